/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_format.c - see the header.
 */
#include "odata/odata_format.h"

#include "domain/properties/datetime.h"
#include "domain/reason.h"
#include "odata/odata_error.h"

static bool is_word(struct str text, const char *word)
{
    return str_equal_any_case(text, str_of(word));
}

static const struct {
    enum odata_level level;
    const char *word, *content_type;
} levels[] = {
    { ODATA_LEVEL_NONE, "nometadata", "application/json;odata=nometadata;streaming=true;charset=utf-8" },
    { ODATA_LEVEL_MINIMAL, "minimalmetadata",
        "application/json;odata=minimalmetadata;streaming=true;charset=utf-8" },
    { ODATA_LEVEL_FULL, "fullmetadata", "application/json;odata=fullmetadata;streaming=true;charset=utf-8" },
};

const char *odata_format_content_type(enum odata_level level)
{
    return levels[level].content_type;
}

/*
 * Read the level of metadata from the parameters of a media range; minimal if it is missing. false: there is
 * no such level.
 */
static bool read_level(struct str parameters, enum odata_level *out)
{
    *out = ODATA_LEVEL_MINIMAL;
    while (parameters.len > 0) {
        struct str value = str_trim(str_take(&parameters, ';'), " \t"),
                   name = str_trim(str_take(&value, '='), " \t");
        bool is_known = false;

        value = str_trim(value, " \t");
        for (size_t i = 0; is_word(name, "odata") && i < ARRAY_LEN(levels); i++)
            if (is_word(value, levels[i].word)) {
                *out = levels[i].level;
                is_known = true;
            }
        if (is_word(name, "odata") && !is_known)
            return false;
    }
    return true;
}

/* Whether the media range allows JSON, and at which level. */
static bool read_range(struct str range, enum odata_level *out)
{
    struct str type = str_trim(str_take(&range, ';'), " \t");

    if (is_word(type, "application/json"))
        return read_level(range, out);
    *out = ODATA_LEVEL_MINIMAL;
    return is_word(type, "*/*") || is_word(type, "application/*");
}

static enum status choose_format(struct str format, enum odata_level *out, struct error *err)
{
    struct str parameters = format, type = str_trim(str_take(&parameters, ';'), " \t");

    if (is_word(type, "json") ? read_level(parameters, out) : read_range(format, out))
        return STATUS_OK;
    if (is_word(format, "atom") || str_starts_with(format, STR_LITERAL("application/atom+xml")))
        return odata_error_refuse(
            err, ODATA_REFUSAL_ATOM_FORMAT_NOT_SUPPORTED, "$format asks for Atom: replies are JSON");
    return reason_set(err, REASON_INVALID_INPUT,
        "$format must be json or application/json, also with ;odata=nometadata, minimalmetadata or "
        "fullmetadata");
}

enum status odata_format_choose(
    struct str accept, struct str format, enum odata_level *out, struct error *err)
{
    *out = ODATA_LEVEL_MINIMAL;
    if (format.len > 0)
        return choose_format(format, out, err);
    if (accept.len == 0)
        return STATUS_OK;
    while (accept.len > 0)
        if (read_range(str_trim(str_take(&accept, ','), " \t"), out))
            return STATUS_OK;
    return odata_error_refuse(err, ODATA_REFUSAL_ATOM_FORMAT_NOT_SUPPORTED,
        "Accept does not allow JSON: replies are application/json");
}

bool odata_format_is_json(struct str content_type)
{
    return content_type.len == 0 ||
           is_word(str_trim(str_take(&content_type, ';'), " \t"), "application/json");
}

enum odata_preference odata_format_preference(struct str prefer)
{
    while (prefer.len > 0) {
        struct str word = str_trim(str_take(&prefer, ','), " \t");

        if (is_word(word, "return-content"))
            return ODATA_PREFERENCE_CONTENT;
        if (is_word(word, "return-no-content"))
            return ODATA_PREFERENCE_NO_CONTENT;
    }
    return ODATA_PREFERENCE_NONE;
}

const char *odata_format_preference_applied(enum odata_preference preference)
{
    static const char *const applied[] = { NULL, "return-content", "return-no-content" };

    return applied[preference];
}

enum status odata_format_check_version(struct str version, struct error *err)
{
    static const struct str oldest = STR_LITERAL("2009-07-17");
    int64_t seconds;
    int32_t nanos;

    if (version.len == 0 || (version.len == oldest.len && datetime_parse(version, &seconds, &nanos) &&
                                str_compare(version, oldest) >= 0))
        return STATUS_OK;
    return odata_error_refuse(err, ODATA_REFUSAL_INVALID_HEADER_VALUE,
        "x-ms-version must be a date such as 2019-02-02, not before 2009-07-17");
}

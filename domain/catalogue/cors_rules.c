/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cors_rules.c - see the header.
 */
#include "domain/catalogue/cors_rules.h"

#include <strings.h>

#include "base/macros.h"
#include "domain/reason.h"

/* Take the next element of a list, without spaces around it; false: the list is empty. */
static bool take_element(struct str *list, struct str *out)
{
    if (list->len == 0)
        return false;
    *out = str_trim(str_take(list, ','), " ");
    return true;
}

static bool is_any(struct str text)
{
    return str_equal(text, STR_LITERAL("*"));
}

/* ---- checking rules ---- */

static bool is_method(struct str method)
{
    static const char *const methods[] = { "DELETE", "GET", "HEAD", "MERGE", "POST", "PATCH", "OPTIONS",
        "PUT" };

    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (str_equal(method, str_of(methods[i])))
            return true;
    return false;
}

static bool methods_are_valid(struct str list)
{
    struct str method;
    size_t count = 0;

    for (; take_element(&list, &method); count++)
        if (!is_method(method))
            return false;
    return count > 0;
}

static bool is_printable(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < ' ' || text.data[i] > '~')
            return false;
    return true;
}

/* Each element has 1 to max_bytes printable characters, and there are at most max of them. */
static bool list_is_valid(struct str list, size_t max, size_t max_bytes)
{
    struct str element;
    size_t count = 0;

    for (; take_element(&list, &element); count++)
        if (element.len == 0 || element.len > max_bytes || !is_printable(element))
            return false;
    return count <= max;
}

static const char *fault_of(const struct cors_rule *rule)
{
    if (rule->origins.len == 0 || !list_is_valid(rule->origins, MAX_CORS_ORIGINS, MAX_CORS_ORIGIN_BYTES))
        return "AllowedOrigins has 1 to 64 origins, each of at most 256 characters";
    if (!methods_are_valid(rule->methods))
        return "AllowedMethods has methods of DELETE, GET, HEAD, MERGE, POST, PATCH, OPTIONS and PUT";
    if (!list_is_valid(rule->allowed_headers, MAX_CORS_HEADERS, MAX_CORS_BYTES) ||
        !list_is_valid(rule->exposed_headers, MAX_CORS_HEADERS, MAX_CORS_BYTES))
        return "AllowedHeaders and ExposedHeaders have at most 66 names";
    if (rule->max_age_s > INT32_MAX)
        return "MaxAgeInSeconds is a number of 31 bits";
    return NULL;
}

enum status cors_rules_check(const struct cors_rules *rules, struct error *err)
{
    size_t bytes = 0;

    if (rules->count > MAX_CORS_RULES)
        return reason_set(err, REASON_INVALID_INPUT, "there are at most %d CORS rules", MAX_CORS_RULES);
    for (size_t i = 0; i < rules->count; i++) {
        const struct cors_rule *rule = &rules->items[i];
        const char *fault = fault_of(rule);

        if (fault)
            return reason_set(err, REASON_INVALID_INPUT, "the CORS rule %zu: %s", i, fault);
        bytes +=
            rule->origins.len + rule->methods.len + rule->allowed_headers.len + rule->exposed_headers.len;
    }
    if (bytes <= MAX_CORS_BYTES)
        return STATUS_OK;
    return reason_set(
        err, REASON_INVALID_INPUT, "all CORS rules together have at most %d characters", MAX_CORS_BYTES);
}

/* ---- requests ---- */

static bool ends_with(struct str text, struct str end)
{
    return text.len >= end.len && memcmp(text.data + text.len - end.len, end.data, end.len) == 0;
}

/*
 * A pattern with a star matches each origin that begins and ends like the pattern, with at least
 * one character between.
 */
static bool fits_origin(struct str pattern, struct str origin)
{
    struct str end = pattern, begin;

    if (is_any(pattern) || str_equal(pattern, origin))
        return true;
    begin = str_take(&end, '*');
    return begin.len < pattern.len && origin.len > begin.len + end.len && str_starts_with(origin, begin) &&
           ends_with(origin, end);
}

static bool has_origin(struct str list, struct str origin)
{
    struct str pattern;

    while (take_element(&list, &pattern))
        if (fits_origin(pattern, origin))
            return true;
    return false;
}

static bool has_method(struct str list, struct str method)
{
    struct str element;

    while (take_element(&list, &element))
        if (str_equal(element, method))
            return true;
    return false;
}

const struct cors_rule *cors_rules_find(const struct cors_rules *rules, struct str origin, struct str method)
{
    for (size_t i = 0; i < rules->count && origin.len > 0; i++)
        if (has_origin(rules->items[i].origins, origin) && has_method(rules->items[i].methods, method))
            return &rules->items[i];
    return NULL;
}

bool cors_rule_is_for_all(const struct cors_rule *rule)
{
    struct str list = rule->origins, pattern;

    while (take_element(&list, &pattern))
        if (is_any(pattern))
            return true;
    return false;
}

static bool fits_header(struct str pattern, struct str name)
{
    if (pattern.len > 0 && pattern.data[pattern.len - 1] == '*')
        return name.len >= pattern.len - 1 && strncasecmp(pattern.data, name.data, pattern.len - 1) == 0;
    return str_equal_any_case(pattern, name);
}

static bool has_header(struct str list, struct str name)
{
    struct str pattern;

    while (take_element(&list, &pattern))
        if (fits_header(pattern, name))
            return true;
    return false;
}

bool cors_rule_allows(const struct cors_rule *rule, struct str headers)
{
    struct str name;

    while (take_element(&headers, &name))
        if (name.len > 0 && !has_header(rule->allowed_headers, name))
            return false;
    return true;
}

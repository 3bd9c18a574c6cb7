/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect_codec.c - see the header.
 */
#include "service/connect/connect_codec.h"

#include "api/json/json_forms.h"
#include "api/json/json_write.h"
#include "api/json/schema.h"
#include "base/digits.h"
#include "base/wire.h"
#include "domain/reason.h"

enum {
    CODE_UNKNOWN = 2,
    STATUS_DETAILS_FIELD = 3,
    ANY_TYPE_FIELD = 1,
    ANY_VALUE_FIELD = 2,
    TIMEOUT_DIGITS = 10
};

/* ---- media types ---- */

static const struct {
    const char *name;
    struct connect_media media;
} media_types[] = {
    { "application/json", { true, false } },
    { "application/proto", { false, false } },
    { "application/connect+json", { true, true } },
    { "application/connect+proto", { false, true } },
};

static bool is_utf8(struct str parameters)
{
    while (parameters.len > 0) {
        struct str value = str_trim(str_take(&parameters, ';'), " ");
        struct str name = str_take(&value, '=');

        if (str_equal_any_case(name, STR_LITERAL("charset")) &&
            !str_equal_any_case(value, STR_LITERAL("utf-8")) &&
            !str_equal_any_case(value, STR_LITERAL("\"utf-8\"")))
            return false;
    }
    return true;
}

bool connect_media_parse(struct str content_type, struct connect_media *out)
{
    struct str name = str_trim(str_take(&content_type, ';'), " ");

    for (size_t i = 0; i < ARRAY_LEN(media_types); i++)
        if (str_equal_any_case(name, str_of(media_types[i].name)) && is_utf8(content_type)) {
            *out = media_types[i].media;
            return true;
        }
    return false;
}

const char *connect_media_name(const struct connect_media *media)
{
    for (size_t i = 0; i < ARRAY_LEN(media_types); i++)
        if (media_types[i].media.is_json == media->is_json &&
            media_types[i].media.is_stream == media->is_stream)
            return media_types[i].name;
    return "";
}

/* ---- codes ---- */

static const struct {
    const char *name;
    int http_status;
} codes[] = {
    { "ok", 200 },
    { "canceled", 499 },
    { "unknown", 500 },
    { "invalid_argument", 400 },
    { "deadline_exceeded", 504 },
    { "not_found", 404 },
    { "already_exists", 409 },
    { "permission_denied", 403 },
    { "resource_exhausted", 429 },
    { "failed_precondition", 400 },
    { "aborted", 409 },
    { "out_of_range", 400 },
    { "unimplemented", 501 },
    { "internal", 500 },
    { "unavailable", 503 },
    { "data_loss", 500 },
    { "unauthenticated", 401 },
};

static size_t code_row(int code)
{
    return code >= 0 && (size_t)code < ARRAY_LEN(codes) ? (size_t)code : CODE_UNKNOWN;
}

const char *connect_codec_code_name(int code)
{
    return codes[code_row(code)].name;
}

int connect_codec_http_status(int code)
{
    return codes[code_row(code)].http_status;
}

bool connect_codec_parse_timeout(struct str text, int64_t *out_ms)
{
    uint64_t ms;

    if (text.len > TIMEOUT_DIGITS || !digits_parse_unsigned(text, INT64_C(9999999999), &ms))
        return false;
    *out_ms = (int64_t)ms;
    return true;
}

/* ---- envelopes ---- */

enum connect_taken connect_envelope_take(struct str *body, struct connect_envelope *out)
{
    const uint8_t *prefix = (const uint8_t *)body->data;
    size_t length;

    if (body->len == 0)
        return CONNECT_NONE_LEFT;
    if (body->len < CONNECT_PREFIX_BYTES)
        return CONNECT_CUT_OFF;
    length = (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 | prefix[4];
    if (length > body->len - CONNECT_PREFIX_BYTES)
        return CONNECT_CUT_OFF;
    out->flags = prefix[0];
    out->message = str_of_bytes(body->data + CONNECT_PREFIX_BYTES, length);
    *body = str_from(*body, CONNECT_PREFIX_BYTES + length);
    return CONNECT_TAKEN;
}

void connect_envelope_write(struct buf *out, uint8_t flags, struct str message)
{
    buf_append_byte(out, flags);
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_append_byte(out, (uint8_t)(message.len >> shift));
    buf_append(out, message);
}

/* ---- errors ---- */

/* Append base64 without padding, which the protocol requires. */
static void write_base64(struct buf *out, struct str bytes)
{
    json_forms_write_bytes(out, bytes);
    while (out->len > 0 && out->data[out->len - 1] == '=')
        out->len--;
}

static void write_debug(struct buf *out, struct str type, struct str value)
{
    const struct schema *schema = schema_of_api();
    const struct schema_message *message = schema_find_message(schema, type);
    size_t before = out->len;

    if (!message)
        return;
    buf_append(out, STR_LITERAL(",\"debug\":"));
    if (json_write_message(schema, message, value, 0, out, NULL) != STATUS_OK)
        out->len = before;
}

static void write_detail(struct buf *out, struct str any)
{
    struct str type = str_behind_last(wire_find_bytes(any, ANY_TYPE_FIELD), '/');
    struct str value = wire_find_bytes(any, ANY_VALUE_FIELD);

    buf_append(out, STR_LITERAL("{\"type\":"));
    json_forms_write_text(out, type);
    buf_append(out, STR_LITERAL(",\"value\":\""));
    write_base64(out, value);
    buf_append_byte(out, '"');
    write_debug(out, type, value);
    buf_append_byte(out, '}');
}

static void write_details(struct buf *out, struct str status)
{
    struct wire_field field;
    bool any = false;

    while (wire_find_field(&status, STATUS_DETAILS_FIELD, &field)) {
        buf_append(out, any ? STR_LITERAL(",") : STR_LITERAL(",\"details\":["));
        write_detail(out, field.bytes);
        any = true;
    }
    if (any)
        buf_append_byte(out, ']');
}

void connect_codec_write_error(struct buf *out, int code, struct str message, struct str status)
{
    buf_format(out, "{\"code\":\"%s\"", connect_codec_code_name(code));
    if (message.len > 0) {
        buf_append(out, STR_LITERAL(",\"message\":"));
        json_forms_write_text(out, message);
    }
    write_details(out, status);
    buf_append_byte(out, '}');
}

/* ---- requests ---- */

/*
 * The position behind the JSON text that begins with a quote at this position; the length of json if the text
 * does not end.
 */
static size_t end_of_text(struct str json, size_t at)
{
    for (at++; at < json.len && json.data[at] != '"'; at++)
        if (json.data[at] == '\\')
            at++;
    return at;
}

/* Count the values without a parser: every value but the first follows one of these signs. */
enum status connect_codec_check_values(struct str json, struct error *err)
{
    size_t values = 1;

    for (size_t i = 0; i < json.len; i++) {
        if (json.data[i] == '"')
            i = end_of_text(json, i);
        else
            values += json.data[i] == ',' || json.data[i] == '[' || json.data[i] == '{';
    }
    if (values <= CONNECT_MAX_JSON_VALUES)
        return STATUS_OK;
    return reason_set(err, REASON_REQUEST_BODY_TOO_LARGE,
        "the request has more than %d values: send it in parts", (int)CONNECT_MAX_JSON_VALUES);
}

static int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (char)(digit | 0x20);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

bool connect_codec_unescape(struct str text, struct arena *arena, struct str *out)
{
    char *to = arena_alloc(arena, text.len + 1);
    size_t length = 0;

    for (size_t i = 0; i < text.len; i++) {
        char character = text.data[i] == '+' ? ' ' : text.data[i];

        if (character == '%') {
            int high = i + 2 < text.len ? hex_digit(text.data[i + 1]) : -1;
            int low = i + 2 < text.len ? hex_digit(text.data[i + 2]) : -1;

            if (high < 0 || low < 0)
                return false;
            character = (char)(high << 4 | low);
            i += 2;
        }
        to[length++] = character;
    }
    *out = str_of_bytes(to, length);
    return true;
}

bool connect_codec_find_parameter(struct str query, const char *name, struct str *out)
{
    while (query.len > 0) {
        struct str value = str_take(&query, '&');
        struct str key = str_take(&value, '=');

        if (str_equal(key, str_of(name))) {
            *out = value;
            return true;
        }
    }
    return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - filling errors. Values from outside are cut so that no error outgrows a gRPC trailer.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const names[] = {
    "OK",
    "INVALID",
    "OUT_OF_RANGE",
    "NOT_FOUND",
    "EXISTS",
    "STALE",
    "PRECONDITION",
    "LIMIT",
    "UNIMPLEMENTED",
    "UNAUTHENTICATED",
    "DENIED",
    "TIMEOUT",
    "CANCELLED",
    "UNAVAILABLE",
    "MAYBE_DONE",
    "INTERNAL",
};

_Static_assert(ARRAY_LEN(names) == STATUS_COUNT, "one name per status");

const char *status_name(enum status status)
{
    return (unsigned)status < STATUS_COUNT ? names[status] : "UNKNOWN";
}

/* The longest prefix of at most limit bytes that does not cut a UTF-8 sequence. */
static size_t cut_on_character(struct str text, size_t limit)
{
    size_t len = text.len < limit ? text.len : limit;

    if (len == text.len)
        return len;
    while (len > 0 && ((unsigned char)text.data[len] & 0xC0) == 0x80)
        len--;
    return len;
}

enum status error_set_reason(
    struct error *err, enum status status, const char *reason, const char *format, va_list args)
{
    char text[ERROR_MESSAGE_BYTES * 2];
    int written;
    size_t len;

    if (!err)
        return status;
    written = vsnprintf(text, sizeof(text), format, args);
    len = written < 0 ? 0 : (size_t)written;
    if (len >= sizeof(text))
        len = sizeof(text) - 1;
    len = cut_on_character(str_of_bytes(text, len), ERROR_MESSAGE_BYTES - 1);
    memcpy(err->message, text, len);
    err->message[len] = '\0';
    err->status = status;
    err->reason = reason;
    err->sqlstate[0] = '\0';
    err->meta_count = 0;
    err->field[0] = '\0';
    err->detail[0] = '\0';
    return status;
}

enum status error_set(struct error *err, enum status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error_set_reason(err, status, NULL, format, args);
    va_end(args);
    return status;
}

void error_set_detail(struct error *err, const char *detail)
{
    size_t len = cut_on_character(str_of(detail), ERROR_DETAIL_BYTES - 1);

    if (!err)
        return;
    memcpy(err->detail, detail, len);
    err->detail[len] = '\0';
}

void error_add_meta(struct error *err, const char *key, struct str value)
{
    struct error_meta *meta;
    size_t len;

    if (!err || err->meta_count == ERROR_META_COUNT)
        return;
    meta = &err->meta[err->meta_count++];
    len = cut_on_character(value, ERROR_META_VALUE_BYTES - 1);
    meta->key = key;
    if (len > 0)
        memcpy(meta->value, value.data, len);
    meta->value[len] = '\0';
}

void error_add_meta_int(struct error *err, const char *key, int64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%lld", (long long)value);
    error_add_meta(err, key, str_of(text));
}

enum status error_in_field(struct error *err, const char *step)
{
    char path[2 * ERROR_FIELD_BYTES];
    size_t len;

    snprintf(
        path, sizeof(path), "%.*s%s%s", ERROR_FIELD_BYTES - 1, step, err->field[0] ? "." : "", err->field);
    len = cut_on_character(str_of(path), ERROR_FIELD_BYTES - 1);
    memcpy(err->field, path, len);
    err->field[len] = '\0';
    return err->status;
}

enum status error_in_element(struct error *err, const char *list, size_t index)
{
    char step[64];

    snprintf(step, sizeof(step), "%.40s[%zu]", list, index);
    return error_in_field(err, step);
}

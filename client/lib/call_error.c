/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_error.c - see the header.
 */
#include "client/lib/call_error.h"

#include <stdarg.h>
#include <stdio.h>

#include "api/codec.h"
#include "api/codec_error.h"
#include "base/wire.h"
#include "domain/text.h"
#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "rpc/code.h"

enum { MS_PER_SECOND = 1000, NANOS_PER_MS = 1000000 };

const char *tavola_code_name(enum tavola_code code)
{
    return rpc_code_name((int)code);
}

const char *tavola_error_metadata(const struct tavola_error *error, const char *key)
{
    for (size_t i = 0; i < error->metadata_count; i++)
        if (strcmp(error->metadata[i].key, key) == 0)
            return error->metadata[i].value;
    return NULL;
}

struct tavola_error *call_error_begin(struct tavola_error *given, struct tavola_error *own)
{
    struct tavola_error *error = given ? given : own;

    error->code = TAVOLA_OK;
    error->reason[0] = error->message[0] = error->field[0] = '\0';
    error->retry_after_ms = -1;
    error->metadata_count = 0;
    return error;
}

/* Copy the text. A text that does not fit is cut. */
static void copy_text(char *out, size_t size, struct str text)
{
    snprintf(out, size, "%.*s", STR_ARG(text));
}

static void add_metadata(struct tavola_error *out, struct str key, struct str value)
{
    if (out->metadata_count == TAVOLA_METADATA_MAX)
        return;
    copy_text(out->metadata[out->metadata_count].key, sizeof(out->metadata[0].key), key);
    copy_text(out->metadata[out->metadata_count].value, sizeof(out->metadata[0].value), value);
    out->metadata_count++;
}

enum tavola_code call_error_set(struct tavola_error *out, enum tavola_code code, const char *format, ...)
{
    va_list args;

    (void)call_error_begin(out, NULL);
    out->code = code;
    va_start(args, format);
    vsnprintf(out->message, sizeof(out->message), format, args);
    va_end(args);
    return code;
}

enum tavola_code call_error_of(const struct error *err, struct tavola_error *out)
{
    (void)call_error_begin(out, NULL);
    out->code = (enum tavola_code)codec_error_status_code(err->status);
    copy_text(out->reason, sizeof(out->reason), str_of(err->reason ? err->reason : ""));
    copy_text(out->message, sizeof(out->message), str_of(err->message));
    copy_text(out->field, sizeof(out->field), str_of(err->field));
    for (size_t i = 0; i < err->meta_count; i++)
        add_metadata(out, str_of(err->meta[i].key), str_of(err->meta[i].value));
    return out->code;
}

/* ---- errors of the service ---- */

static void read_info(struct str bytes, struct arena *arena, struct tavola_error *out)
{
    const Google__Rpc__ErrorInfo *info =
        (const Google__Rpc__ErrorInfo *)codec_read(&google__rpc__error_info__descriptor, bytes, arena);

    if (!info)
        return;
    copy_text(out->reason, sizeof(out->reason), codec_str(info->reason));
    for (size_t i = 0; i < info->n_metadata; i++)
        add_metadata(out, wire_find_bytes(codec_str(info->metadata[i]), 1),
            wire_find_bytes(codec_str(info->metadata[i]), 2));
}

static void read_retry(struct str bytes, struct arena *arena, struct tavola_error *out)
{
    const Google__Rpc__RetryInfo *info =
        (const Google__Rpc__RetryInfo *)codec_read(&google__rpc__retry_info__descriptor, bytes, arena);

    if (info && info->retry_delay && info->retry_delay->seconds >= 0)
        out->retry_after_ms =
            info->retry_delay->seconds * MS_PER_SECOND + info->retry_delay->nanos / NANOS_PER_MS;
}

static void read_field(struct str bytes, struct arena *arena, struct tavola_error *out)
{
    const Google__Rpc__BadRequest *wrong =
        (const Google__Rpc__BadRequest *)codec_read(&google__rpc__bad_request__descriptor, bytes, arena);

    if (wrong && wrong->n_field_violations > 0)
        copy_text(out->field, sizeof(out->field), codec_str(wrong->field_violations[0]->field));
}

static void read_details(struct str bytes, struct arena *arena, struct tavola_error *out)
{
    static const struct {
        const char *type;
        void (*read)(struct str bytes, struct arena *arena, struct tavola_error *out);
    } known[] = { { "type.googleapis.com/google.rpc.ErrorInfo", read_info },
        { "type.googleapis.com/google.rpc.RetryInfo", read_retry },
        { "type.googleapis.com/google.rpc.BadRequest", read_field } };
    const Google__Rpc__Status *status =
        (const Google__Rpc__Status *)codec_read(&google__rpc__status__descriptor, bytes, arena);

    for (size_t i = 0; status && i < status->n_details; i++)
        for (size_t k = 0; k < ARRAY_LEN(known); k++)
            if (str_equal(codec_str(status->details[i]->type_url), str_of(known[k].type)))
                known[k].read(codec_str(status->details[i]->value), arena, out);
}

/* The message without its first word, the reason, which the service puts there. */
static struct str strip_reason(struct str message, const char *reason)
{
    struct str name = str_of(reason);

    if (name.len > 0 && str_starts_with(message, name) &&
        str_starts_with(str_from(message, name.len), STR_LITERAL(": ")))
        return str_from(message, name.len + 2);
    return message;
}

enum tavola_code call_error_of_status(
    const struct rpc_status *status, struct arena *arena, struct tavola_error *out)
{
    (void)call_error_begin(out, NULL);
    out->code = (enum tavola_code)status->code;
    if (status->code == TAVOLA_OK)
        return TAVOLA_OK;
    read_details(status->details, arena, out);
    copy_text(out->message, sizeof(out->message), strip_reason(status->message, out->reason));
    return out->code;
}

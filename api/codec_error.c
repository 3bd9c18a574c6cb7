/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_error.c - see the header.
 */
#include "api/codec_error.h"

#include "api/codec_entity.h"
#include "base/wire.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "google/protobuf/any.pb-c.h"
#include "google/protobuf/duration.pb-c.h"
#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"

#define ERROR_DOMAIN "tavola"
#define TYPE_PREFIX "type.googleapis.com/"

enum { RETRY_SECONDS = 1 };

/* The numbers of google.rpc.Code, which are also those of gRPC. */
static const int codes[] = {
    [STATUS_OK] = 0,
    [STATUS_INVALID] = 3,
    [STATUS_OUT_OF_RANGE] = 11,
    [STATUS_NOT_FOUND] = 5,
    [STATUS_EXISTS] = 6,
    [STATUS_STALE] = 10,
    [STATUS_PRECONDITION] = 9,
    [STATUS_LIMIT] = 8,
    [STATUS_UNIMPLEMENTED] = 12,
    [STATUS_UNAUTHENTICATED] = 16,
    [STATUS_DENIED] = 7,
    [STATUS_TIMEOUT] = 4,
    [STATUS_CANCELLED] = 1,
    [STATUS_UNAVAILABLE] = 14,
    [STATUS_MAYBE_DONE] = 14,
    [STATUS_INTERNAL] = 13,
};
_Static_assert(ARRAY_LEN(codes) == STATUS_COUNT, "a code for every status");

int codec_error_status_code(enum status status)
{
    return codes[status];
}

/* The reason of an error that has only a status, because a layer below the domain has made it. */
static enum reason usual_reason(enum status status)
{
    switch (status) {
    case STATUS_LIMIT:
        return REASON_SERVER_BUSY;
    case STATUS_TIMEOUT:
        return REASON_OPERATION_TIMED_OUT;
    case STATUS_CANCELLED:
        return REASON_CANCELLED;
    case STATUS_UNAVAILABLE:
        return REASON_STORE_UNAVAILABLE;
    case STATUS_MAYBE_DONE:
        return REASON_OUTCOME_UNKNOWN;
    case STATUS_INVALID:
        return REASON_INVALID_INPUT;
    case STATUS_UNIMPLEMENTED:
        return REASON_NOT_IMPLEMENTED;
    case STATUS_OK:
    case STATUS_OUT_OF_RANGE:
    case STATUS_NOT_FOUND:
    case STATUS_EXISTS:
    case STATUS_STALE:
    case STATUS_PRECONDITION:
    case STATUS_UNAUTHENTICATED:
    case STATUS_DENIED:
    case STATUS_INTERNAL:
    case STATUS_COUNT:
        break;
    }
    return REASON_INTERNAL_ERROR;
}

const char *codec_error_reason(const struct error *err)
{
    return err->reason ? err->reason : reason_info(usual_reason(err->status))->name;
}

/* The message of an internal error goes to the log; callers get a fixed text. */
static struct str message_of(const struct error *err, struct arena *arena)
{
    if (err->status == STATUS_INTERNAL)
        return STR_LITERAL("the server failed; its log has the cause");
    return codec_text(str_of(err->message), arena);
}

/* The beginning of the text with at most `max` bytes, ending with a whole character. */
static struct str cut_at_character(struct str text, size_t max)
{
    if (text.len <= max)
        return text;
    while (max > 0 && ((uint8_t)text.data[max] & 0xC0) == 0x80)
        max--;
    return str_of_bytes(text.data, max);
}

static size_t copy_metadata(
    const struct error *err, size_t max, struct arena *arena, ProtobufCBinaryData **out)
{
    *out = ARENA_ARRAY(arena, ProtobufCBinaryData, err->meta_count);
    for (size_t i = 0; i < err->meta_count; i++) {
        struct buf entry;

        buf_init(&entry, arena);
        wire_write_bytes(&entry, 1, str_of(err->meta[i].key));
        wire_write_bytes(&entry, 2, cut_at_character(codec_text(str_of(err->meta[i].value), arena), max));
        (*out)[i] = codec_bytes(buf_str(&entry));
    }
    return err->meta_count;
}

Tavola__V1__Error *codec_error_message(const struct error *err, struct arena *arena)
{
    Tavola__V1__Error *out = ARENA_NEW(arena, Tavola__V1__Error);

    tavola__v1__error__init(out);
    out->code = codec_error_status_code(err->status);
    out->reason = codec_bytes(str_of(codec_error_reason(err)));
    out->message = codec_bytes(message_of(err, arena));
    out->n_metadata = copy_metadata(err, ERROR_META_VALUE_BYTES, arena, &out->metadata);
    return out;
}

static void init_any(
    Google__Protobuf__Any *out, const ProtobufCMessageDescriptor *type, struct str value, struct arena *arena)
{
    google__protobuf__any__init(out);
    out->type_url = codec_bytes(arena_format(arena, TYPE_PREFIX "%s", type->name));
    out->value = codec_bytes(value);
}

static void pack_any(Google__Protobuf__Any *out, const ProtobufCMessage *message, struct arena *arena)
{
    struct buf value;

    buf_init(&value, arena);
    codec_pack(&value, 0, message);
    init_any(out, message->descriptor, buf_str(&value), arena);
}

static bool worth_repeating(const struct error *err)
{
    if (err->status == STATUS_LIMIT)
        return str_equal(str_of(codec_error_reason(err)), STR_LITERAL("SERVER_BUSY"));
    return err->status == STATUS_UNAVAILABLE || err->status == STATUS_MAYBE_DONE;
}

/* Whether the status is about a part of the request. */
static bool is_of_the_request(enum status status)
{
    return status == STATUS_INVALID || status == STATUS_OUT_OF_RANGE || status == STATUS_UNIMPLEMENTED ||
           status == STATUS_PRECONDITION;
}

/* Append the BadRequest detail: the path of the refused field, for clients that show errors beside fields. */
static void add_violation(
    const struct error *err, size_t max_value, struct arena *arena, Google__Protobuf__Any *out)
{
    Google__Rpc__BadRequest__FieldViolation violation = GOOGLE__RPC__BAD_REQUEST__FIELD_VIOLATION__INIT;
    Google__Rpc__BadRequest__FieldViolation *all[] = { &violation };
    Google__Rpc__BadRequest bad = GOOGLE__RPC__BAD_REQUEST__INIT;

    violation.field = codec_bytes(codec_text(cut_at_character(str_of(err->field), max_value), arena));
    violation.description = codec_bytes(cut_at_character(message_of(err, arena), max_value));
    bad.n_field_violations = 1;
    bad.field_violations = all;
    pack_any(out, &bad.base, arena);
}

/* Encode a google.rpc.Status. entity: an Entity message, or empty. */
static struct str status_encode(
    const struct error *err, struct str message, struct str entity, size_t max_value, struct arena *arena)
{
    Google__Rpc__ErrorInfo info = GOOGLE__RPC__ERROR_INFO__INIT;
    Google__Rpc__RetryInfo retry = GOOGLE__RPC__RETRY_INFO__INIT;
    Google__Protobuf__Duration delay = GOOGLE__PROTOBUF__DURATION__INIT;
    Google__Rpc__Status status = GOOGLE__RPC__STATUS__INIT;
    Google__Protobuf__Any details[4];
    Google__Protobuf__Any *pointers[4] = { &details[0], &details[1], &details[2], &details[3] };
    struct buf out;

    info.reason = codec_bytes(str_of(codec_error_reason(err)));
    info.domain = codec_bytes(STR_LITERAL(ERROR_DOMAIN));
    info.n_metadata = copy_metadata(err, max_value, arena, &info.metadata);
    pack_any(&details[0], &info.base, arena);
    status.code = codec_error_status_code(err->status);
    status.message = codec_bytes(message);
    status.n_details = 1;
    status.details = pointers;
    if (worth_repeating(err)) {
        delay.seconds = RETRY_SECONDS;
        retry.retry_delay = &delay;
        pack_any(&details[status.n_details++], &retry.base, arena);
    }
    if (err->field[0] && is_of_the_request(err->status))
        add_violation(err, max_value, arena, &details[status.n_details++]);
    if (entity.len > 0)
        init_any(&details[status.n_details++], &tavola__v1__entity__descriptor, entity, arena);
    buf_init(&out, arena);
    codec_pack(&out, 0, &status.base);
    return buf_str(&out);
}

/*
 * The size of the trailers as they are sent: in the message each byte outside printable ASCII takes three bytes, and
 * the details are base64.
 */
static size_t sent_bytes(struct str message, struct str details)
{
    size_t bytes = (details.len + 2) / 3 * 4;

    for (size_t i = 0; i < message.len; i++)
        bytes += message.data[i] >= ' ' && message.data[i] <= '~' && message.data[i] != '%' ? 1 : 3;
    return bytes;
}

/* Shorten the metadata until the trailers fit. false: they do not fit even without metadata. */
static bool fit_metadata(const struct error *err, struct str entity, size_t max_sent, struct arena *arena,
    struct codec_trailers *out)
{
    for (size_t max_value = ERROR_META_VALUE_BYTES;; max_value /= 2) {
        out->details = status_encode(err, out->message, entity, max_value, arena);
        if (sent_bytes(out->message, out->details) <= max_sent)
            return true;
        if (max_value == 0)
            return false;
    }
}

static struct str entity_message(const struct entity *entity, struct arena *arena)
{
    struct wire_field field;
    struct str bytes;
    struct buf out;

    buf_init(&out, arena);
    codec_entity_write(&out, 1, entity);
    bytes = buf_str(&out);
    return wire_read_field(&bytes, &field) == WIRE_FIELD ? field.bytes : STR_EMPTY;
}

struct codec_trailers codec_trailers_encode(
    const struct error *err, const struct entity *entity, struct arena *arena)
{
    struct codec_trailers out = { .code = codec_error_status_code(err->status) };
    struct str message = entity ? entity_message(entity, arena) : STR_EMPTY;

    out.message = arena_format(arena, "%s: %.*s", codec_error_reason(err), STR_ARG(message_of(err, arena)));
    if (message.len == 0 || message.len > LIMIT_ERROR_ENTITY_BYTES ||
        !fit_metadata(err, message, CODEC_TRAILER_ENTITY_BYTES, arena, &out))
        (void)fit_metadata(err, STR_EMPTY, CODEC_TRAILER_BYTES, arena, &out);
    return out;
}

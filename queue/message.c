/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - any program may have written to Redis, so every field is checked.
 */
#include "queue/message.h"

#include "base/buf.h"
#include "base/digits.h"
#include "domain/limits.h"

/* publish.lua writes the fields of these names. */
static const char work_field[] = "v2";
static const char ctids_field[] = "at";

_Static_assert(
    sizeof(struct intent_ctids) == 2 * ROW_CTID_BYTES, "a message has the bytes of both ctids and no others");

static void encode_ctids(const struct intent_ctids *ctids, struct redis_command *command)
{
    char *digits = ARENA_ARRAY(command->arena, char, MESSAGE_CTIDS_DIGITS);

    digits_encode_hex(str_of_bytes((const char *)ctids, sizeof(*ctids)), digits);
    redis_word(command, str_of_bytes(digits, MESSAGE_CTIDS_DIGITS));
}

void message_encode(const struct intent *intent, struct redis_command *command)
{
    const struct entity_key *key = &intent->key;
    char id[INTENT_ID_TEXT_BYTES];
    struct buf value;

    buf_init(&value, command->arena);
    buf_format(&value, "%d %s %d %lld %zu ", intent->bucket, intent_id_format(intent->id, id), intent->kind,
        (long long)intent->table_id, key->partition.len);
    buf_append(&value, key->partition);
    buf_append(&value, key->row);
    redis_word(command, buf_str(&value));
    encode_ctids(&intent->ctids, command);
}

/* The values of an entry's fields; data NULL: there is none. */
struct values {
    struct str work, ctids;
};

/* Fields of other names are ignored: a later version may add some. */
static struct str *value_of(struct values *values, struct str name)
{
    if (str_equal(name, str_of(work_field)))
        return &values->work;
    return str_equal(name, str_of(ctids_field)) ? &values->ctids : NULL;
}

static bool find_values(const redisReply *fields, struct values *out)
{
    if (!redis_reply_array(fields, 2))
        return false;
    for (size_t i = 0; i + 1 < fields->elements; i += 2) {
        struct str name, value, *known;

        if (!redis_reply_str(fields->element[i], &name) || !redis_reply_str(fields->element[i + 1], &value))
            return false;
        known = value_of(out, name);
        if (known && known->data)
            return false;
        if (known)
            *known = value;
    }
    return out->work.data != NULL;
}

/* Take the text before the next space; *rest moves behind that space. */
static bool take_word(struct str *rest, struct str *word)
{
    const char *space = rest->len > 0 ? memchr(rest->data, ' ', rest->len) : NULL;

    if (!space)
        return false;
    *word = str_of_bytes(rest->data, (size_t)(space - rest->data));
    *rest = str_from(*rest, word->len + 1);
    return true;
}

static bool take_decimal(struct str *rest, int64_t max, int64_t *out)
{
    struct str text;

    return take_word(rest, &text) && digits_parse_signed(text, 0, max, out);
}

static bool take_intent_id(struct str *rest, struct intent_id *out)
{
    struct str text;

    return take_word(rest, &text) && intent_id_parse(text, out);
}

static void decode_ctids(struct str text, struct intent_ctids *out)
{
    char bytes[sizeof(*out)];

    if (text.len == MESSAGE_CTIDS_DIGITS && digits_decode_hex(text, bytes))
        memcpy(out, bytes, sizeof(bytes));
}

bool message_decode(
    const redisReply *id, const redisReply *fields, struct arena *arena, struct queue_message *out)
{
    struct values values = { 0 };
    struct str entry, value;
    struct intent_id intent_id;
    int64_t bucket, kind, table_id, len;

    if (!redis_reply_str(id, &entry) || entry.len >= sizeof(out->entry_id))
        return false;
    memcpy(out->entry_id, entry.data, entry.len);
    out->entry_id[entry.len] = '\0';

    if (!find_values(fields, &values))
        return false;
    value = values.work;
    if (!take_decimal(&value, BUCKETS - 1, &bucket) || !take_intent_id(&value, &intent_id) ||
        !take_decimal(&value, INT16_MAX, &kind) || !take_decimal(&value, INT64_MAX, &table_id) ||
        !take_decimal(&value, INT64_MAX, &len) || (uint64_t)len > value.len)
        return false;
    out->intent = (struct intent){
        .bucket = (int16_t)bucket,
        .id = intent_id,
        .kind = (int16_t)kind,
        .table_id = table_id,
        .key = { .partition = arena_copy(arena, str_of_bytes(value.data, (size_t)len)),
            .row = arena_copy(arena, str_from(value, (size_t)len)) },
    };
    decode_ctids(values.ctids, &out->intent.ctids);
    return true;
}

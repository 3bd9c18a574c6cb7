/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - any program may have written to Redis, so every field is checked.
 */
#include "queue/message.h"

#include "base/buf.h"
#include "base/digits.h"
#include "domain/limits.h"

static const char field_name[] = "v2"; /* publish.lua writes it */

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
}

/* The value of the field "v2". Fields of other names are ignored: a later version may add some. */
static bool find_value(const redisReply *fields, struct str *out)
{
    bool found = false;

    if (!redis_reply_array(fields, 2))
        return false;
    for (size_t i = 0; i + 1 < fields->elements; i += 2) {
        struct str name, value;

        if (!redis_reply_str(fields->element[i], &name) || !redis_reply_str(fields->element[i + 1], &value))
            return false;
        if (!str_equal(name, str_of(field_name)))
            continue;
        if (found)
            return false;
        found = true;
        *out = value;
    }
    return found;
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

bool message_decode(
    const redisReply *id, const redisReply *fields, struct arena *arena, struct queue_message *out)
{
    struct str entry, value;
    struct intent_id intent_id;
    int64_t bucket, kind, table_id, len;

    if (!redis_reply_str(id, &entry) || entry.len >= sizeof(out->entry_id))
        return false;
    memcpy(out->entry_id, entry.data, entry.len);
    out->entry_id[entry.len] = '\0';

    if (!find_value(fields, &value) || !take_decimal(&value, BUCKETS - 1, &bucket) ||
        !take_intent_id(&value, &intent_id) || !take_decimal(&value, INT16_MAX, &kind) ||
        !take_decimal(&value, INT64_MAX, &table_id) || !take_decimal(&value, INT64_MAX, &len) ||
        (uint64_t)len > value.len)
        return false;
    out->intent = (struct intent){
        .bucket = (int16_t)bucket,
        .id = intent_id,
        .kind = (int16_t)kind,
        .table_id = table_id,
        .key = { .partition = arena_copy(arena, str_of_bytes(value.data, (size_t)len)),
            .row = arena_copy(arena, str_from(value, (size_t)len)) },
    };
    return true;
}

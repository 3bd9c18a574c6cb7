/*
 * message.c - whatever stands in Redis may have been put there by anybody: nothing is taken on trust.
 */
#include "queue/message.h"

#include "domain/limits.h"

static const char version[] = "1";
static const char field_names[] = "vbiktpr";

enum { V, B, I, K, T, P, R, FIELD_COUNT };

_Static_assert(sizeof(field_names) - 1 == FIELD_COUNT, "one letter per field");

void message_encode(const struct intent *intent, struct redis_command *command)
{
    redis_word(command, str_of(version));
    redis_word_int(command, intent->bucket);
    redis_word(command, str_of(intent->id));
    redis_word_int(command, intent->kind);
    redis_word_int(command, intent->table_id);
    redis_word(command, intent->key.partition);
    redis_word(command, intent->key.row);
}

/* The values by their position in field_names; unknown names are left for later versions. */
static bool collect(const redisReply *fields, struct str values[FIELD_COUNT])
{
    bool seen[FIELD_COUNT] = { false };

    if (!redis_reply_array(fields, 2 * (size_t)FIELD_COUNT))
        return false;
    for (size_t i = 0; i + 1 < fields->elements; i += 2) {
        struct str name, value;
        const char *at;
        size_t field;

        if (!redis_reply_str(fields->element[i], &name) || !redis_reply_str(fields->element[i + 1], &value))
            return false;
        at = name.len == 1 ? memchr(field_names, name.data[0], FIELD_COUNT) : NULL;
        if (!at)
            continue;
        field = (size_t)(at - field_names);
        if (seen[field])
            return false;
        seen[field] = true;
        values[field] = value;
    }
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (!seen[i])
            return false;
    }
    return true;
}

static bool decimal(struct str text, int64_t most, int64_t *out)
{
    int64_t value = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text.data[i] - '0', &value))
            return false;
    }
    if (value > most)
        return false;
    *out = value;
    return true;
}

static bool is_intent_id(struct str id)
{
    if (id.len != sizeof(((struct intent *)0)->id) - 1)
        return false;
    for (size_t i = 0; i < id.len; i++) {
        if (!(id.data[i] >= '0' && id.data[i] <= '9') && !(id.data[i] >= 'a' && id.data[i] <= 'f'))
            return false;
    }
    return true;
}

bool message_decode(
    const redisReply *id, const redisReply *fields, struct arena *arena, struct queue_message *out)
{
    struct str values[FIELD_COUNT] = { 0 };
    struct str entry;
    int64_t bucket, kind, table_id;

    if (!redis_reply_str(id, &entry) || entry.len >= sizeof(out->entry_id))
        return false;
    memcpy(out->entry_id, entry.data, entry.len);
    out->entry_id[entry.len] = '\0';

    if (!collect(fields, values) || !str_equal(values[V], str_of(version)))
        return false;
    if (!decimal(values[B], BUCKETS - 1, &bucket) || !decimal(values[K], INT16_MAX, &kind) ||
        !decimal(values[T], INT64_MAX, &table_id) || !is_intent_id(values[I]))
        return false;
    out->intent = (struct intent){
        .bucket = (int16_t)bucket,
        .kind = (int16_t)kind,
        .table_id = table_id,
        .key = { .partition = arena_copy(arena, values[P]), .row = arena_copy(arena, values[R]) },
    };
    memcpy(out->intent.id, values[I].data, values[I].len);
    return true;
}

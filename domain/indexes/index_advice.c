/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_advice.c - see the header. If equality binds the partition key, the entries are put into
 * the partition of their source; otherwise the properties compared by equality become the partition
 * key, and the first range the row key.
 */
#include "domain/indexes/index_advice.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/buf.h"
#include "domain/indexes/index_codec.h"

enum { MIN_EXAMINED_PER_RETURNED = 10, MAX_NAME_SUFFIX = 99 };

static const struct str partition_key = STR_LITERAL("PartitionKey");

/* The properties by which an index of one shape could find the entities. */
struct wanted {
    bool binds_partition;
    struct str equal[LIMIT_KEY_PARTS];
    size_t equal_count;
    struct str range; /* empty: none */
};

/* ---- shapes ---- */

static void want_token(struct wanted *wanted, const struct shape_token *token)
{
    if (str_equal(token->name, STR_LITERAL("Timestamp")))
        return; /* Timestamp grows with each write */
    if (token->use == SHAPE_EQUAL && str_equal(token->name, partition_key))
        wanted->binds_partition = true;
    else if (token->use == SHAPE_EQUAL && wanted->equal_count + 1 < LIMIT_KEY_PARTS)
        wanted->equal[wanted->equal_count++] = token->name;
    else if (token->use == SHAPE_RANGE && wanted->range.len == 0)
        wanted->range = token->name;
}

/* For a range over all partitions, all entries would have to be in one partition. */
static bool can_be_found(const struct wanted *wanted)
{
    if (wanted->binds_partition)
        return wanted->equal_count > 0 ||
               (wanted->range.len > 0 && !str_equal(wanted->range, STR_LITERAL("RowKey")));
    return wanted->equal_count > 0;
}

static bool is_worth_it(const struct shape_counter *counter)
{
    return counter->examined >= MIN_EXAMINED_PER_RETURNED * (counter->returned + counter->queries);
}

static bool read_wanted(const struct shape_counter *counter, struct arena *arena, struct wanted *out)
{
    struct shape_token *tokens;
    size_t count;

    *out = (struct wanted){ 0 };
    if (!query_shape_read(shape_sketch_text(counter), arena, &tokens, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        want_token(out, &tokens[i]);
    return can_be_found(out);
}

/* ---- existing indexes ---- */

static bool is_equal(const struct wanted *wanted, struct str name)
{
    if (wanted->binds_partition && str_equal(name, partition_key))
        return true;
    for (size_t i = 0; i < wanted->equal_count; i++)
        if (str_equal(wanted->equal[i], name))
            return true;
    return false;
}

/*
 * Whether a look-up can bind the whole partition key, and something that the table's own keys do
 * not.
 */
static bool answers(const struct index *index, const struct wanted *wanted)
{
    bool own = false;

    if (index->filter)
        return false;
    for (size_t i = 0; i < index->partition_key.count; i++) {
        const struct key_part *part = &index->partition_key.parts[i];

        if (!part->is_literal && !is_equal(wanted, part->text))
            return false;
        own = own || (!part->is_literal && !str_equal(part->text, partition_key));
    }
    if (!own && index->row_key.count > 0 && !index->row_key.parts[0].is_literal)
        own = is_equal(wanted, index->row_key.parts[0].text) ||
              str_equal(wanted->range, index->row_key.parts[0].text);
    return own;
}

static const struct index *find_index(const struct table *table, const struct wanted *wanted)
{
    for (size_t i = 0; i < table->index_count; i++)
        if (answers(table->indexes[i], wanted))
            return table->indexes[i];
    return NULL;
}

/* ---- a possible index ---- */

static void add_part(struct key_parts *key, struct str name)
{
    key->parts[key->count++] = (struct key_part){ .text = name };
}

static struct key_parts new_key(struct arena *arena)
{
    return (struct key_parts){ .parts = ARENA_ARRAY(arena, struct key_part, LIMIT_KEY_PARTS + 1) };
}

/* Append the letters and digits of a name, since a table's name can have no other characters. */
static void add_letters(struct buf *out, struct str name)
{
    for (size_t i = 0; i < name.len && out->len < LIMIT_TABLE_NAME_MAX - 2; i++)
        if (isascii((unsigned char)name.data[i]) && isalnum((unsigned char)name.data[i]))
            buf_append_byte(out, (uint8_t)name.data[i]);
}

static struct str free_name(const struct catalogue *catalogue, const struct table *table,
    const struct wanted *wanted, struct arena *arena)
{
    struct buf base;
    struct str name;

    buf_init(&base, arena);
    add_letters(&base, table->name);
    add_letters(&base, STR_LITERAL("By"));
    for (size_t i = 0; i < wanted->equal_count; i++)
        add_letters(&base, wanted->equal[i]);
    add_letters(&base, wanted->range);
    name = buf_str(&base);
    for (int i = 2; catalogue_find(catalogue, table->account, name) && i <= MAX_NAME_SUFFIX; i++)
        name = arena_format(arena, "%.*s%d", STR_ARG(buf_str(&base)), i);
    return name;
}

static struct str declare(const struct catalogue *catalogue, const struct table *table,
    const struct wanted *wanted, struct arena *arena)
{
    struct index index = { .account = table->account,
        .name = free_name(catalogue, table, wanted, arena),
        .source_name = table->name,
        .shape = INDEX_COPY,
        .place = wanted->binds_partition ? PLACE_SAME_PARTITION : PLACE_OTHER_PARTITION,
        .consistency = wanted->binds_partition ? INDEX_STRONG : INDEX_EVENTUAL,
        .partition_key = new_key(arena),
        .row_key = new_key(arena),
        .projection = table->is_wide ? PROJECT_KEYS_ONLY : PROJECT_ALL };

    if (wanted->binds_partition)
        add_part(&index.partition_key, partition_key);
    for (size_t i = 0; i < wanted->equal_count; i++)
        add_part(wanted->binds_partition ? &index.row_key : &index.partition_key, wanted->equal[i]);
    if (wanted->range.len > 0)
        add_part(&index.row_key, wanted->range);
    return index_codec_encode(&index, arena);
}

/* ---- adding up ---- */

static struct index_advice *advice_of(
    struct index_advices *out, struct str definition, struct str existing, struct arena *arena)
{
    struct index_advice *advice;

    for (size_t i = 0; i < out->count; i++)
        if (str_equal(out->items[i].definition, definition) && str_equal(out->items[i].existing, existing))
            return &out->items[i];
    advice = &out->items[out->count++];
    *advice = (struct index_advice){ .definition = definition,
        .existing = existing,
        .shapes = ARENA_ARRAY(arena, struct str, SKETCH_SHAPES) };
    return advice;
}

static void add_shape(struct index_advice *advice, const struct shape_counter *counter, struct arena *arena)
{
    advice->shapes[advice->shape_count++] = arena_copy(arena, shape_sketch_text(counter));
    advice->queries += counter->queries;
    advice->examined += counter->examined;
    advice->returned += counter->returned;
}

static int by_saved(const void *a, const void *b)
{
    const struct index_advice *one = a, *other = b;
    int64_t difference = other->examined - other->returned - one->examined + one->returned;

    return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

static void find_unread(const struct table *table, const struct shape_sketch *sketch, struct arena *arena,
    struct index_advices *out)
{
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index *index = table->indexes[i];

        if (index->state == INDEX_READY && !index->is_unique &&
            shape_sketch_reads_of(sketch, index->index_id) == 0)
            out->unread[out->unread_count++] =
                (struct unread_index){ arena_copy(arena, index->name), sketch->writes };
    }
}

struct index_advices index_advice_make(const struct catalogue *catalogue, const struct table *table,
    const struct shape_sketch *sketch, struct arena *arena)
{
    struct index_advices out = { .items = ARENA_ARRAY(arena, struct index_advice, SKETCH_SHAPES),
        .unread = ARENA_ARRAY(arena, struct unread_index, table->index_count) };

    for (size_t i = 0; i < sketch->shape_count; i++) {
        const struct shape_counter *counter = &sketch->shapes[i];
        const struct index *index;
        struct index_advice *advice;
        struct wanted wanted;

        if (!is_worth_it(counter) || !read_wanted(counter, arena, &wanted))
            continue;
        index = find_index(table, &wanted);
        advice = index ? advice_of(&out, STR_EMPTY, arena_copy(arena, index->name), arena)
                       : advice_of(&out, declare(catalogue, table, &wanted, arena), STR_EMPTY, arena);
        add_shape(advice, counter, arena);
        advice->entries = index ? 0 : sketch->writes;
    }
    qsort(out.items, out.count, sizeof(*out.items), by_saved);
    find_unread(table, sketch, arena, &out);
    return out;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operations.c - what every call does in our own pure functions, on fixed inputs, to have its instructions counted
 * (check_costs.py). One row of the table is one operation; each is run once to warm up and then RUNS times below
 * cost_measured(), at whose end valgrind writes down what was counted.
 *
 * Prints "RUNS <n>", then the operations' names in the order in which they ran.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/codec_write.h"
#include "api/json/entity_json.h"
#include "base/wire.h"
#include "domain/filter/filter.h"
#include "domain/indexes/lookup_plan.h"
#include "domain/indexes/reconcile_plan.h"
#include "domain/sampling/key_sketch.h"
#include "domain/writes/write_plan.h"

#define JSON                                                                                                 \
    "{\"Color\":\"blue\",\"Count\":42,\"Name\":\"Paula Miller\",\"Share\":0.5,\"Note0\":\"forty characters " \
    "of text, more "                                                                                         \
    "or less.\",\"Note1\":\"forty characters of text, more or "                                              \
    "less.\",\"Big@odata.type\":\"Edm.Int64\",\"Big\":\"7\"}"
#define FILTER "PartitionKey eq 'p100042' and (Color eq 'blue' or Count gt 40) and not (Name lt 'M')"

enum { RUNS = 64, TABLE_ID = 5, INDEX_ID = 70, VERSION = 9, TICKS = 1000, SAMPLED_KEYS = 16 };

static struct arena fixed; /* holds the inputs */
static struct row_state before, after;
static struct entity entity;
static struct str get_request, write_request;
static const struct filter *filter;
static struct manifest manifest; /* properties of the previous state */

static struct key_part by_color[] = { { .text = { "Color", 5 } } };
static struct index copies = { .index_id = INDEX_ID,
    .source_table_id = TABLE_ID,
    .shape = INDEX_COPY,
    .place = PLACE_OTHER_PARTITION,
    .state = INDEX_READY,
    .partition_key = { by_color, 1 },
    .projection = PROJECT_ALL };
static struct index *indexes[] = { &copies };
static struct table table = { .table_id = TABLE_ID, .indexes = indexes, .index_count = 1 };

static void must(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "operations: %s\n", what);
    exit(1);
}

/* ---- the inputs ---- */

static struct property_list some_properties(const char *color)
{
    static const char *const notes[] = { "Note0", "Note1", "Note2", "Note3" };
    struct value text = { .type = PROPERTY_STRING };
    struct value number = { .type = PROPERTY_INT32, .integer = 42 };
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };

    buf_init(&out, &fixed);
    text.bytes = str_of(color);
    property_build(&builder, STR_LITERAL("Color"), &text);
    property_build(&builder, STR_LITERAL("Count"), &number);
    text.bytes = STR_LITERAL("Paula Miller");
    property_build(&builder, STR_LITERAL("Name"), &text);
    text.bytes = STR_LITERAL("forty characters of text, more or less.");
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
        property_build(&builder, str_of(notes[i]), &text);
    return (struct property_list){ buf_str(&out) };
}

/* { table, { partition key, row key, more } } */
static struct str a_request(struct str more)
{
    struct buf inner, out;

    buf_init(&inner, &fixed);
    wire_write_bytes(&inner, 1, entity.key.partition);
    wire_write_bytes(&inner, 2, entity.key.row);
    buf_append(&inner, more);
    buf_init(&out, &fixed);
    wire_write_bytes(&out, 1, STR_LITERAL("People"));
    wire_write_bytes(&out, 2, buf_str(&inner));
    return buf_str(&out);
}

static struct reconcile_plan reconciled(
    const struct row_state *source, const struct manifest *stored, struct arena *arena)
{
    struct reconcile_plan plan;

    reconcile_plan(
        &(struct reconcile_case){ .table = &table, .key = &entity.key, .source = source, .stored = stored },
        arena, &plan);
    return plan;
}

static void make_inputs(void)
{
    struct error err = { 0 };

    arena_init(&fixed);
    entity = (struct entity){ .key = { STR_LITERAL("p100042"), STR_LITERAL("r10004217") },
        .etag = { .table_id = TABLE_ID, .version = VERSION },
        .timestamp = TICKS,
        .properties = some_properties("blue") };
    before =
        (struct row_state){ .live = true, .version = VERSION, .ts = TICKS, .properties = entity.properties };
    after = before;
    after.version++;
    after.properties = some_properties("green");
    get_request = a_request(STR_EMPTY);
    write_request = a_request(after.properties.bytes);
    must(filter_compile(str_of(FILTER), &fixed, &filter, &err) == STATUS_OK, err.message);
    must(filter_matches(filter, &entity), "the filter does not match");
    manifest = reconciled(&before, &(struct manifest){ .count = 0 }, &fixed).manifest;
}

/* ---- the operations ---- */

static void decode_get(struct arena *arena)
{
    ProtobufCMessage *message;
    struct entity_key key;
    struct error err;

    must(codec_unpack(&tavola__v1__get_entity_request__descriptor, get_request, arena, &message, &err) ==
             STATUS_OK,
        "decode a Get");
    must(codec_entity_key_decode(((Tavola__V1__GetEntityRequest *)message)->key, "key", &key, &err) ==
             STATUS_OK,
        "decode a key");
}

static struct write decoded(enum write_kind kind, struct arena *arena)
{
    ProtobufCMessage *message;
    struct write write;
    struct error err;

    must(codec_unpack(&tavola__v1__insert_or_replace_entity_request__descriptor, write_request, arena,
             &message, &err) == STATUS_OK,
        "decode a write");
    must(codec_write_decode(kind, ((Tavola__V1__InsertOrReplaceEntityRequest *)message)->entity, NULL, arena,
             &write, &err) == STATUS_OK,
        "decode an entity");
    return write;
}

static void decode_write(struct arena *arena)
{
    decoded(WRITE_INSERT_OR_REPLACE, arena);
}

static void plan(enum write_kind kind, struct arena *arena)
{
    struct write write = { .kind = kind, .key = entity.key, .properties = after.properties };
    struct write_clock clock = { .floor = 1, .ticks = TICKS };
    struct write_result result;
    struct row_state next;
    struct error err;

    must(write_plan_one(&before, &write, &(struct write_context){ TABLE_ID, clock, arena, false }, &next,
             &result, &err) == STATUS_OK,
        "plan a write");
}

static void plan_replace(struct arena *arena)
{
    plan(WRITE_INSERT_OR_REPLACE, arena);
}

static void plan_merge(struct arena *arena)
{
    plan(WRITE_INSERT_OR_MERGE, arena);
}

static void plan_index(struct arena *arena)
{
    must(index_plan_affects(&copies, &entity.key, &before, &after, arena), "a change of an entry");
}

static void plan_lookup(struct arena *arena)
{
    struct value color = { .type = PROPERTY_STRING, .bytes = STR_LITERAL("blue") };
    struct operation_lookup lookup = { .equals = &color, .equal_count = 1 };
    struct lookup_range range;
    struct error err;

    must(lookup_plan(&copies, &lookup, arena, &range, &err) == STATUS_OK && range.count == 1,
        "plan a look-up");
}

/* Whether the source of a hit still has the entry by which it was found. */
static void check_hit(struct arena *arena)
{
    struct entity_key entry;

    must(index_plan_key(&copies, &entity.key, &before, arena, &entry) == PROJECTED, "check a hit");
}

static void compile_filter(struct arena *arena)
{
    const struct filter *compiled;
    struct error err;

    must(filter_compile(str_of(FILTER), arena, &compiled, &err) == STATUS_OK, "compile a filter");
}

static void match_filter(struct arena *arena)
{
    (void)arena;
    must(filter_matches(filter, &entity), "match a filter");
}

static void encode_entity(struct arena *arena)
{
    struct buf reply;

    buf_init(&reply, arena);
    codec_entity_write(&reply, 1, &entity);
}

/* What the Azure Tables door does with each entity of a request, and with each entity of a reply. */
static void read_json(struct arena *arena)
{
    struct error err = { 0 };
    struct entity out;

    must(entity_json_read_at(STR_LITERAL(JSON), &entity.key, arena, &out, NULL, &err) == STATUS_OK,
        "read JSON");
}

static void write_json(struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    entity_json_write(&entity, STR_EMPTY, &out);
}

static void encode_result(struct arena *arena)
{
    struct write_result result = { .etag = entity.etag, .timestamp = entity.timestamp };
    struct buf reply;

    buf_init(&reply, arena);
    codec_write_result(&reply, 1, &result, STR_EMPTY, false);
}

static void reconcile(struct arena *arena)
{
    must(reconciled(&after, &manifest, arena).upsert_count == 1, "reconcile a change");
}

/* Of a partition that has the last of the counters. */
static void count_sample(struct arena *arena)
{
    struct key_counter counters[SAMPLED_KEYS];
    struct key_sketch sketch;
    struct key_access access = { .row = entity.key.row, .has_row = true, .is_write = true, .weight = 64 };

    key_sketch_init(&sketch, counters, SAMPLED_KEYS);
    for (int i = 0; i < SAMPLED_KEYS; i++) {
        access.partition = arena_format(arena, "p%06d", i);
        key_sketch_note(&sketch, &access);
    }
    must(sketch.count == SAMPLED_KEYS, "count samples");
}

static const struct operation_case {
    const char *name;
    void (*run)(struct arena *arena);
} operation_cases[] = {
    { "decode Get", decode_get },
    { "decode InsertOrReplace", decode_write },
    { "plan InsertOrReplace", plan_replace },
    { "plan InsertOrMerge", plan_merge },
    { "plan index change", plan_index },
    { "plan look-up", plan_lookup },
    { "check a hit", check_hit },
    { "compile filter", compile_filter },
    { "match filter", match_filter },
    { "encode entity", encode_entity },
    { "encode write result", encode_result },
    { "read entity as JSON", read_json },
    { "write entity as JSON", write_json },
    { "reconcile", reconcile },
    { "count 16 samples", count_sample },
};

/* valgrind counts the instructions below this function, by its name. */
void cost_measured(const struct operation_case *c);

__attribute__((noinline)) void cost_measured(const struct operation_case *c)
{
    for (int i = 0; i < RUNS; i++) {
        struct arena arena;

        arena_init(&arena);
        c->run(&arena);
        arena_cleanup(&arena);
    }
}

int main(void)
{
    make_inputs();
    printf("RUNS %d\n", RUNS);
    for (size_t i = 0; i < sizeof(operation_cases) / sizeof(operation_cases[0]); i++) {
        struct arena arena;

        arena_init(&arena);
        operation_cases[i].run(&arena);
        arena_cleanup(&arena);
        cost_measured(&operation_cases[i]);
        printf("%s\n", operation_cases[i].name);
    }
    arena_cleanup(&fixed);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_sketch.c - see the header. Counters are compared by reads + writes + error, the maximum that
 * the partition may have had.
 */
#include "domain/sampling/key_sketch.h"

#include <string.h>

#include "base/hash.h"
#include "domain/sampling/time_key.h"

/* ---- keys ---- */

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xc0U) == 0x80U;
}

struct sampled_text sampled_text_of(struct str text)
{
    struct sampled_text out = { .hash = hash_bytes(HASH_EMPTY, text), .length = (uint32_t)text.len };
    size_t kept = text.len;

    if (kept > SAMPLED_TEXT_BYTES) {
        kept = SAMPLED_TEXT_BYTES;
        while (kept > 0 && continues_character(text.data[kept]))
            kept--;
    }
    out.kept = (uint32_t)kept;
    if (kept > 0)
        memcpy(out.bytes, text.data, kept);
    return out;
}

struct str sampled_text_str(const struct sampled_text *text)
{
    return (struct str){ text->bytes, text->kept };
}

bool sampled_text_equal(const struct sampled_text *a, const struct sampled_text *b)
{
    return a->hash == b->hash && a->length == b->length &&
           str_equal(sampled_text_str(a), sampled_text_str(b));
}

/* Below 0, 0, above 0. Keys that differ only in the part that is not kept count as equal. */
static int compare(const struct sampled_text *a, const struct sampled_text *b)
{
    return str_compare(sampled_text_str(a), sampled_text_str(b));
}

/* ---- counters ---- */

static int64_t at_most(const struct key_counter *counter)
{
    return counter->reads + counter->writes + counter->error;
}

static struct key_counter *find_smallest(struct key_sketch *sketch)
{
    struct key_counter *smallest = &sketch->keys[0];

    for (size_t i = 1; i < sketch->count; i++)
        if (at_most(&sketch->keys[i]) < at_most(smallest))
            smallest = &sketch->keys[i];
    return smallest;
}

/* The counter of a partition, which may be taken from another partition. */
static struct key_counter *counter_of(struct key_sketch *sketch, const struct sampled_text *partition)
{
    struct key_counter *counter;
    int64_t error = 0;

    for (size_t i = 0; i < sketch->count; i++)
        if (sampled_text_equal(&sketch->keys[i].partition, partition))
            return &sketch->keys[i];
    if (sketch->count < sketch->capacity) {
        counter = &sketch->keys[sketch->count++];
    } else {
        counter = find_smallest(sketch);
        error = at_most(counter);
        sketch->replaced++;
    }
    *counter = (struct key_counter){ .partition = *partition, .error = error };
    return counter;
}

/*
 * Boyer and Moore's vote: a row key with more than half of the weight wins, in whatever order the
 * accesses come.
 */
static void vote(struct key_counter *counter, const struct sampled_text *row, int64_t weight)
{
    if (counter->top_votes > 0 && sampled_text_equal(&counter->top_row, row)) {
        counter->top_votes += weight;
    } else if (counter->top_votes >= weight) {
        counter->top_votes -= weight;
    } else {
        counter->top_row = *row;
        counter->top_votes = weight - counter->top_votes;
    }
}

static void note_step(const struct sampled_text *last, const struct sampled_text *next, int64_t weight,
    int64_t *ascending, int64_t *descending)
{
    int order = compare(next, last);

    if (order > 0)
        *ascending += weight;
    else if (order < 0)
        *descending += weight;
}

static void note_row(struct key_counter *counter, const struct key_access *access)
{
    struct sampled_text row = sampled_text_of(access->row);

    vote(counter, &row, access->weight);
    if (!access->is_write)
        return;
    if (counter->writes > 0)
        note_step(&counter->last_row, &row, access->weight, &counter->ascending, &counter->descending);
    if (time_key_looks_like(sampled_text_str(&row)))
        counter->timed += access->weight;
    counter->last_row = row;
}

void key_sketch_init(struct key_sketch *sketch, struct key_counter *keys, size_t capacity)
{
    *sketch = (struct key_sketch){ .keys = keys, .capacity = capacity };
}

void key_sketch_note(struct key_sketch *sketch, const struct key_access *access)
{
    struct sampled_text partition = sampled_text_of(access->partition);
    struct key_counter *counter = counter_of(sketch, &partition);

    if (access->has_row)
        note_row(counter, access);
    if (access->is_write) {
        if (sketch->writes > 0)
            note_step(
                &sketch->last_partition, &partition, access->weight, &sketch->ascending, &sketch->descending);
        sketch->last_partition = partition;
        counter->writes += access->weight;
        sketch->writes += access->weight;
    } else {
        counter->reads += access->weight;
        sketch->reads += access->weight;
    }
    counter->samples++;
    sketch->samples++;
}

/* ---- merging ---- */

static void merge_counter(struct key_counter *counter, const struct key_counter *other)
{
    counter->samples += other->samples;
    counter->reads += other->reads;
    counter->writes += other->writes;
    counter->error += other->error;
    counter->ascending += other->ascending;
    counter->descending += other->descending;
    counter->timed += other->timed;
    if (other->writes > 0)
        counter->last_row = other->last_row;
    if (other->top_votes > 0)
        vote(counter, &other->top_row, other->top_votes);
}

void key_sketch_merge(struct key_sketch *sketch, const struct key_sketch *other)
{
    for (size_t i = 0; i < other->count; i++)
        merge_counter(counter_of(sketch, &other->keys[i].partition), &other->keys[i]);
    sketch->samples += other->samples;
    sketch->reads += other->reads;
    sketch->writes += other->writes;
    sketch->replaced += other->replaced;
    sketch->ascending += other->ascending;
    sketch->descending += other->descending;
    if (other->writes > 0)
        sketch->last_partition = other->last_partition;
}

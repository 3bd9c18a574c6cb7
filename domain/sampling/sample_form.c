/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_form.c - see the header. The kept part of each key is stored, together with hash and
 * length of the whole key.
 */
#include "domain/sampling/sample_form.h"

#include <string.h>

#include "base/wire_form.h"

enum { MAX_STORED_KEYS = 1024, LEFT_OUT_PER_ACCESS = 100 };

struct stored_text {
    struct str kept;
    uint32_t length;
    int64_t hash;
};

static const struct wire_form_field text_fields[] = {
    WIRE_FORM_FIELD(1, TEXT, struct stored_text, kept, .optional = true),
    WIRE_FORM_FIELD(2, UINT32, struct stored_text, length, .optional = true),
    WIRE_FORM_FIELD(3, INT64, struct stored_text, hash, .optional = true),
};
static const struct wire_form text_form = WIRE_FORM(text_fields, struct stored_text, .skips_unknown = true);

struct stored_counter {
    const struct stored_text *partition, *last_row, *top_row;
    int64_t samples, reads, writes, error, ascending, descending, timed, top_votes;
};

static const struct wire_form_field counter_fields[] = {
    WIRE_FORM_FIELD(1, MESSAGE, struct stored_counter, partition, .form = &text_form),
    WIRE_FORM_FIELD(2, ZIGZAG64, struct stored_counter, samples, .optional = true),
    WIRE_FORM_FIELD(3, ZIGZAG64, struct stored_counter, reads, .optional = true),
    WIRE_FORM_FIELD(4, ZIGZAG64, struct stored_counter, writes, .optional = true),
    WIRE_FORM_FIELD(5, ZIGZAG64, struct stored_counter, error, .optional = true),
    WIRE_FORM_FIELD(6, MESSAGE, struct stored_counter, last_row, .form = &text_form),
    WIRE_FORM_FIELD(7, ZIGZAG64, struct stored_counter, ascending, .optional = true),
    WIRE_FORM_FIELD(8, ZIGZAG64, struct stored_counter, descending, .optional = true),
    WIRE_FORM_FIELD(9, ZIGZAG64, struct stored_counter, timed, .optional = true),
    WIRE_FORM_FIELD(10, MESSAGE, struct stored_counter, top_row, .form = &text_form),
    WIRE_FORM_FIELD(11, ZIGZAG64, struct stored_counter, top_votes, .optional = true),
};
static const struct wire_form counter_form =
    WIRE_FORM(counter_fields, struct stored_counter, .skips_unknown = true);

struct stored_sketch {
    const struct stored_counter *keys;
    size_t count;
    const struct stored_text *last_partition;
    int64_t samples, reads, writes, replaced, ascending, descending;
};

static const struct wire_form_field sketch_fields[] = {
    WIRE_FORM_FIELD(1, ZIGZAG64, struct stored_sketch, samples, .required = true),
    WIRE_FORM_FIELD(2, ZIGZAG64, struct stored_sketch, reads, .optional = true),
    WIRE_FORM_FIELD(3, ZIGZAG64, struct stored_sketch, writes, .optional = true),
    WIRE_FORM_FIELD(4, ZIGZAG64, struct stored_sketch, replaced, .optional = true),
    WIRE_FORM_FIELD(5, MESSAGE, struct stored_sketch, last_partition, .form = &text_form),
    WIRE_FORM_FIELD(6, ZIGZAG64, struct stored_sketch, ascending, .optional = true),
    WIRE_FORM_FIELD(7, ZIGZAG64, struct stored_sketch, descending, .optional = true),
    WIRE_FORM_ARRAY(
        8, MESSAGES, struct stored_sketch, keys, count, .form = &counter_form, .max = MAX_STORED_KEYS),
};
static const struct wire_form sketch_form =
    WIRE_FORM(sketch_fields, struct stored_sketch, .skips_unknown = true);

/* ---- writing ---- */

static const struct stored_text *stored_text_of(const struct sampled_text *text, struct arena *arena)
{
    struct stored_text *out = ARENA_NEW(arena, struct stored_text);

    *out = (struct stored_text){ sampled_text_str(text), text->length, (int64_t)text->hash };
    return out;
}

static struct stored_counter stored_counter_of(const struct key_counter *counter, struct arena *arena)
{
    return (struct stored_counter){ .partition = stored_text_of(&counter->partition, arena),
        .samples = counter->samples,
        .reads = counter->reads,
        .writes = counter->writes,
        .error = counter->error,
        .last_row = stored_text_of(&counter->last_row, arena),
        .ascending = counter->ascending,
        .descending = counter->descending,
        .timed = counter->timed,
        .top_row = stored_text_of(&counter->top_row, arena),
        .top_votes = counter->top_votes };
}

struct str sample_form_write(const struct key_sketch *sketch, struct arena *arena)
{
    struct stored_counter *keys = ARENA_ARRAY(arena, struct stored_counter, sketch->count);
    struct stored_sketch stored = { .keys = keys,
        .last_partition = stored_text_of(&sketch->last_partition, arena),
        .samples = sketch->samples,
        .reads = sketch->reads,
        .writes = sketch->writes,
        .replaced = sketch->replaced,
        .ascending = sketch->ascending,
        .descending = sketch->descending };
    struct buf out;

    for (size_t i = 0; i < sketch->count; i++) {
        const struct key_counter *counter = &sketch->keys[i];

        if ((counter->reads + counter->writes) * LEFT_OUT_PER_ACCESS >= sketch->reads + sketch->writes)
            keys[stored.count++] = stored_counter_of(counter, arena);
    }
    buf_init(&out, arena);
    wire_form_write(&out, &sketch_form, &stored);
    return buf_str(&out);
}

/* ---- reading ---- */

static bool read_text(const struct stored_text *stored, struct sampled_text *out)
{
    *out = (struct sampled_text){ 0 };
    if (!stored)
        return true;
    if (stored->kept.len > SAMPLED_TEXT_BYTES || stored->kept.len > stored->length)
        return false;
    out->hash = (uint64_t)stored->hash;
    out->length = stored->length;
    out->kept = (uint32_t)stored->kept.len;
    if (out->kept > 0)
        memcpy(out->bytes, stored->kept.data, out->kept);
    return true;
}

static bool read_counter(const struct stored_counter *stored, struct key_counter *out)
{
    *out = (struct key_counter){ .samples = stored->samples,
        .reads = stored->reads,
        .writes = stored->writes,
        .error = stored->error,
        .ascending = stored->ascending,
        .descending = stored->descending,
        .timed = stored->timed,
        .top_votes = stored->top_votes };
    return read_text(stored->partition, &out->partition) && read_text(stored->last_row, &out->last_row) &&
           read_text(stored->top_row, &out->top_row);
}

bool sample_form_read(struct str bytes, struct arena *arena, struct key_sketch *out)
{
    struct stored_sketch stored;

    if (!wire_form_read(bytes, &sketch_form, arena, &stored))
        return false;
    key_sketch_init(out, ARENA_ARRAY(arena, struct key_counter, stored.count), stored.count);
    out->count = stored.count;
    out->samples = stored.samples;
    out->reads = stored.reads;
    out->writes = stored.writes;
    out->replaced = stored.replaced;
    out->ascending = stored.ascending;
    out->descending = stored.descending;
    if (!read_text(stored.last_partition, &out->last_partition))
        return false;
    for (size_t i = 0; i < stored.count; i++)
        if (!read_counter(&stored.keys[i], &out->keys[i]))
            return false;
    return true;
}

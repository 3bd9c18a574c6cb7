/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_sketch.c - see the header.
 */
#include "domain/sampling/shape_sketch.h"

#include <string.h>

#include "base/wire_form.h"

struct str shape_sketch_text(const struct shape_counter *counter)
{
    return (struct str){ counter->text, counter->length };
}

/* ---- counting ---- */

static int64_t max_examined(const struct shape_counter *counter)
{
    return counter->examined + counter->error;
}

static struct shape_counter *find_smallest(struct shape_sketch *sketch)
{
    struct shape_counter *smallest = &sketch->shapes[0];

    for (size_t i = 1; i < sketch->shape_count; i++)
        if (max_examined(&sketch->shapes[i]) < max_examined(smallest))
            smallest = &sketch->shapes[i];
    return smallest;
}

/* The counter of a shape, which may be taken from another shape. */
static struct shape_counter *counter_of(struct shape_sketch *sketch, struct str shape)
{
    struct shape_counter *counter;
    int64_t error = 0;

    for (size_t i = 0; i < sketch->shape_count; i++)
        if (str_equal(shape_sketch_text(&sketch->shapes[i]), shape))
            return &sketch->shapes[i];
    if (sketch->shape_count < SKETCH_SHAPES) {
        counter = &sketch->shapes[sketch->shape_count++];
    } else {
        counter = find_smallest(sketch);
        error = max_examined(counter);
    }
    *counter = (struct shape_counter){ .length = shape.len, .error = error };
    memcpy(counter->text, shape.data, shape.len);
    return counter;
}

void shape_sketch_note(struct shape_sketch *sketch, struct str shape, int64_t examined, int64_t returned)
{
    struct shape_counter *counter;

    sketch->queries++;
    if (shape.len == 0 || shape.len > MAX_SHAPE_BYTES)
        return;
    counter = counter_of(sketch, shape);
    counter->queries++;
    counter->examined += examined;
    counter->returned += returned;
}

static struct index_reads *reads_of(struct shape_sketch *sketch, int64_t index_id)
{
    struct index_reads *smallest = &sketch->indexes[0];

    for (size_t i = 0; i < sketch->index_count; i++) {
        if (sketch->indexes[i].index_id == index_id)
            return &sketch->indexes[i];
        if (sketch->indexes[i].reads < smallest->reads)
            smallest = &sketch->indexes[i];
    }
    if (sketch->index_count < SKETCH_INDEXES)
        smallest = &sketch->indexes[sketch->index_count++];
    *smallest = (struct index_reads){ .index_id = index_id };
    return smallest;
}

void shape_sketch_note_index(struct shape_sketch *sketch, int64_t index_id, int64_t reads)
{
    reads_of(sketch, index_id)->reads += reads;
}

int64_t shape_sketch_reads_of(const struct shape_sketch *sketch, int64_t index_id)
{
    for (size_t i = 0; i < sketch->index_count; i++)
        if (sketch->indexes[i].index_id == index_id)
            return sketch->indexes[i].reads;
    return 0;
}

void shape_sketch_merge(struct shape_sketch *sketch, const struct shape_sketch *other)
{
    sketch->queries += other->queries;
    sketch->writes += other->writes;
    for (size_t i = 0; i < other->shape_count; i++) {
        struct shape_counter *counter = counter_of(sketch, shape_sketch_text(&other->shapes[i]));

        counter->queries += other->shapes[i].queries;
        counter->examined += other->shapes[i].examined;
        counter->returned += other->shapes[i].returned;
        counter->error += other->shapes[i].error;
    }
    for (size_t i = 0; i < other->index_count; i++)
        shape_sketch_note_index(sketch, other->indexes[i].index_id, other->indexes[i].reads);
}

/* ---- the stored form ---- */

struct stored_shape {
    struct str text;
    int64_t queries, examined, returned, error;
};

static const struct wire_form_field shape_fields[] = {
    WIRE_FORM_FIELD(1, TEXT, struct stored_shape, text, .required = true),
    WIRE_FORM_FIELD(2, ZIGZAG64, struct stored_shape, queries, .optional = true),
    WIRE_FORM_FIELD(3, ZIGZAG64, struct stored_shape, examined, .optional = true),
    WIRE_FORM_FIELD(4, ZIGZAG64, struct stored_shape, returned, .optional = true),
    WIRE_FORM_FIELD(5, ZIGZAG64, struct stored_shape, error, .optional = true),
};
static const struct wire_form shape_form =
    WIRE_FORM(shape_fields, struct stored_shape, .skips_unknown = true);

static const struct wire_form_field index_fields[] = {
    WIRE_FORM_FIELD(1, ZIGZAG64, struct index_reads, index_id, .required = true),
    WIRE_FORM_FIELD(2, ZIGZAG64, struct index_reads, reads, .optional = true),
};
static const struct wire_form index_form = WIRE_FORM(index_fields, struct index_reads, .skips_unknown = true);

struct stored_shapes {
    int64_t queries, writes;
    const struct stored_shape *shapes;
    size_t shape_count;
    const struct index_reads *indexes;
    size_t index_count;
};

static const struct wire_form_field sketch_fields[] = {
    WIRE_FORM_FIELD(1, ZIGZAG64, struct stored_shapes, queries, .optional = true),
    WIRE_FORM_FIELD(2, ZIGZAG64, struct stored_shapes, writes, .optional = true),
    WIRE_FORM_ARRAY(
        3, MESSAGES, struct stored_shapes, shapes, shape_count, .form = &shape_form, .max = SKETCH_SHAPES),
    WIRE_FORM_ARRAY(
        4, MESSAGES, struct stored_shapes, indexes, index_count, .form = &index_form, .max = SKETCH_INDEXES),
};
static const struct wire_form sketch_form =
    WIRE_FORM(sketch_fields, struct stored_shapes, .skips_unknown = true);

struct str shape_sketch_write(const struct shape_sketch *sketch, struct arena *arena)
{
    struct stored_shape shapes[SKETCH_SHAPES];
    struct stored_shapes stored = { .queries = sketch->queries,
        .writes = sketch->writes,
        .shapes = shapes,
        .shape_count = sketch->shape_count,
        .indexes = sketch->indexes,
        .index_count = sketch->index_count };
    struct buf out;

    for (size_t i = 0; i < sketch->shape_count; i++)
        shapes[i] = (struct stored_shape){ shape_sketch_text(&sketch->shapes[i]), sketch->shapes[i].queries,
            sketch->shapes[i].examined, sketch->shapes[i].returned, sketch->shapes[i].error };
    buf_init(&out, arena);
    wire_form_write(&out, &sketch_form, &stored);
    return buf_str(&out);
}

bool shape_sketch_read(struct str bytes, struct arena *arena, struct shape_sketch *out)
{
    struct stored_shapes stored;

    if (!wire_form_read(bytes, &sketch_form, arena, &stored))
        return false;
    *out = (struct shape_sketch){ .queries = stored.queries, .writes = stored.writes };
    for (size_t i = 0; i < stored.shape_count; i++) {
        struct shape_counter *counter = &out->shapes[i];

        if (stored.shapes[i].text.len > MAX_SHAPE_BYTES)
            return false;
        *counter = (struct shape_counter){ .length = stored.shapes[i].text.len,
            .queries = stored.shapes[i].queries,
            .examined = stored.shapes[i].examined,
            .returned = stored.shapes[i].returned,
            .error = stored.shapes[i].error };
        memcpy(counter->text, stored.shapes[i].text.data, counter->length);
    }
    out->shape_count = stored.shape_count;
    if (stored.index_count > 0)
        memcpy(out->indexes, stored.indexes, stored.index_count * sizeof(out->indexes[0]));
    out->index_count = stored.index_count;
    return true;
}

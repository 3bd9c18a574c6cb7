/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_sketch.h - counts the queries of a table by shape, in bounded memory: how often each shape
 * came, and how many rows it read.
 *
 * It is a space-saving sketch over the examined rows: if all counters are taken, the shape with the
 * fewest examined rows loses its counter. It also counts the reads of each index of the table, and
 * the writes to the table. Pure.
 */
#ifndef DOMAIN_SAMPLING_SHAPE_SKETCH_H
#define DOMAIN_SAMPLING_SHAPE_SKETCH_H

#include <stdint.h>

#include "base/arena.h"
#include "domain/limits.h"
#include "domain/sampling/query_shape.h"

enum { SKETCH_SHAPES = 24, SKETCH_INDEXES = LIMIT_INDEXES_PER_TABLE };

struct shape_counter {
    char text[MAX_SHAPE_BYTES];
    size_t length;
    int64_t queries;            /* pages */
    int64_t examined, returned; /* rows */
    int64_t error;              /* number of rows that may be missing in `examined` */
};

struct index_reads {
    int64_t index_id;
    int64_t reads;
};

struct shape_sketch {
    int64_t queries; /* all of them */
    int64_t writes;  /* entities written */
    struct shape_counter shapes[SKETCH_SHAPES];
    size_t shape_count;
    struct index_reads indexes[SKETCH_INDEXES];
    size_t index_count;
};

/* Count a page of a query with this shape; an empty shape counts in `queries` only. */
void shape_sketch_note(struct shape_sketch *sketch, struct str shape, int64_t examined, int64_t returned);
/*
 * Count reads of an index. If there are more than SKETCH_INDEXES, the index with the fewest reads
 * is replaced.
 */
void shape_sketch_note_index(struct shape_sketch *sketch, int64_t index_id, int64_t reads);
void shape_sketch_merge(struct shape_sketch *sketch, const struct shape_sketch *other);

struct str shape_sketch_text(const struct shape_counter *counter); /* borrowed */
int64_t shape_sketch_reads_of(const struct shape_sketch *sketch, int64_t index_id);

/* Encode the sketch, in the arena, and decode it; false: the bytes are not such a sketch. */
struct str shape_sketch_write(const struct shape_sketch *sketch, struct arena *arena);
bool shape_sketch_read(struct str bytes, struct arena *arena, struct shape_sketch *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_range_write.h - what is written for the keys of a chunk that has been read: the plan, and flights 3 and 4 of
 * build_walk.c.
 */
#ifndef STORE_BUILDS_BUILD_RANGE_WRITE_H
#define STORE_BUILDS_BUILD_RANGE_WRITE_H

#include "store/builds/build_range.h"

/* Decide what becomes of each key, from its entity and its state row alone. */
void build_range_write_plan(struct build_range *range, struct arena *arena);

/*
 * Write state rows, which locks them, and the entries of all keys whose entities have not changed since they were read
 * (guard G8). If no state row is to be written, nothing is locked.
 */
MUST_USE enum status build_range_write_send(
    struct session *session, struct build_range *range, struct error *err);

/* Put the keys that are neither left nor done into walk->others. */
void build_range_write_list_others(struct build_range *range);

#endif

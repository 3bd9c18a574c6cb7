/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_range_write.h - plans and writes what a chunk needs once its keys have been read: the plan,
 * and flights 3 and 4 of build_walk.c.
 */
#ifndef STORE_BUILDS_BUILD_RANGE_WRITE_H
#define STORE_BUILDS_BUILD_RANGE_WRITE_H

#include "store/builds/build_range.h"

/* Decide the disposition of each key, from its entity and its state row alone. */
void build_range_write_plan(struct build_range *range, struct arena *arena);

/*
 * Write the state rows, which locks them, and then the entries of all keys whose entities have not
 * changed since they were read (guard G8). If no state row has to be written, nothing is locked.
 */
MUST_USE enum status build_range_write_send(
    struct session *session, struct build_range *range, struct error *err);

/* Put the keys that are neither KEY_LEFT nor written into walk->others. */
void build_range_write_list_others(struct build_range *range);

/* Insert or replace these entries, which are sorted here. */
MUST_USE enum status build_range_write_over(
    struct session *session, struct entry_change *entries, size_t count, struct error *err);

#endif

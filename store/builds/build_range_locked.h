/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_range_locked.h - a chunk of the build of an index in the partition of its entities. Such an
 * index has no state rows whose locks would say who was first, so the chunk locks its entities.
 */
#ifndef STORE_BUILDS_BUILD_RANGE_LOCKED_H
#define STORE_BUILDS_BUILD_RANGE_LOCKED_H

#include "store/builds/build_range.h"

/*
 * In the transaction that the caller has begun, lock and read the next entities, and write their
 * entries. Entities that cannot have their entry become the walk's `others`. If the chunk begins
 * with a large entity, the walk becomes unfit, and nothing is written.
 */
MUST_USE enum status build_range_locked_run(
    struct session *session, struct build_range *range, const struct index *index, struct error *err);

#endif

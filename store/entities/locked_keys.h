/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locked_keys.h - the keys of writes that wait for another transaction's lock.
 *
 * A write to such a key joins those that wait, and does not have to meet the lock first. The keys are kept as
 * 64-bit hashes with a secret of the process: two keys with one hash cost a write a detour, nothing else. An entry is
 * removed when a write of the key ends, since the key is free then, or is going to be met anew.
 *
 * Thread-safe.
 */
#ifndef STORE_ENTITIES_LOCKED_KEYS_H
#define STORE_ENTITIES_LOCKED_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "domain/operations/operation.h"

struct locked_keys;

struct locked_keys *locked_keys_new(void);
void locked_keys_free(struct locked_keys *keys);

/* Add, or remove, the keys of a write. Of one with more than LIMIT_BATCH_OPERATIONS keys, the first ones count. */
void locked_keys_add(struct locked_keys *keys, const struct operation *operation);
void locked_keys_remove(struct locked_keys *keys, const struct operation *operation);

/* Whether one of the write's keys is there. */
bool locked_keys_has(struct locked_keys *keys, const struct operation *operation);

/* A lock was met that was held for long, at now_us by clock_monotonic_us. */
void locked_keys_note_met(struct locked_keys *keys, int64_t now_us);

/* Whether such a lock was met lately, so that writers look for locks before they write. */
bool locked_keys_met_lately(const struct locked_keys *keys, int64_t now_us);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stray_remove.h - removes strays: objects in chunk stores that no chunk names, because a put broke or a chunk was
 * collected.
 *
 *   1. mark     strays whose time has come: from then on no chunk can name them (guard G68)
 *   2. remove   their bytes; no transaction is open
 *   3. settle   delete the rows of those whose bytes are gone; the others are tried again later
 *
 * A crash between any two of them leaves rows that say what is left to do. Several workers may run it at once.
 */
#ifndef STORE_BLOBS_STRAY_REMOVE_H
#define STORE_BLOBS_STRAY_REMOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct worker;

struct stray_round {
    bool (*is_stopping)(const void *who); /* asked between two removals, and while one waits */
    const void *who;
    int64_t removed, failed;
    bool more;            /* more can be removed now */
    struct error failure; /* if any failed: why the last one did */
};

/*
 * Run a round, whose work is bounded, on the strays in the stores of worker_use_chunks. It sets the members behind
 * `who`.
 */
MUST_USE enum status stray_remove_round(struct worker *store, struct stray_round *round, struct error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_purge.h - gives up the contents that the entities of a dropped table hold. No server writes the table any
 * more.
 */
#ifndef STORE_INDEXES_REFERENCE_PURGE_H
#define STORE_INDEXES_REFERENCE_PURGE_H

#include <stdint.h>

#include "base/error.h"

struct worker;

/* Remove a bounded number of references in one commit. *gone: how many; 0: there is none. */
MUST_USE enum status reference_purge_some(
    struct worker *store, int64_t table_id, int64_t *gone, struct error *err);

#endif

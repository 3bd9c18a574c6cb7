/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_advice.h - what would make a query cheaper, in plain words: the rewrite, or the index.
 *
 * Pure.
 */
#ifndef DOMAIN_INDEXES_QUERY_ADVICE_H
#define DOMAIN_INDEXES_QUERY_ADVICE_H

#include "domain/catalogue/catalogue.h"
#include "domain/filter/filter.h"

/* Sentences for a query of this table, the most helpful first; none where nothing would help. In the arena. */
void query_advice_make(const struct filter *filter, const struct key_plan *plan, const struct table *table,
    struct arena *arena, struct str **out, size_t *count);

#endif

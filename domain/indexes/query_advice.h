/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_advice.h - suggestions that make a query cheaper: another filter, or an index.
 *
 * Pure.
 */
#ifndef DOMAIN_INDEXES_QUERY_ADVICE_H
#define DOMAIN_INDEXES_QUERY_ADVICE_H

#include "domain/catalogue/catalogue.h"
#include "domain/filter/filter.h"

/*
 * Suggestions for a query of this table, the most useful first; none if nothing would help. In the
 * arena.
 */
void query_advice_make(const struct filter *filter, const struct key_plan *plan, const struct table *table,
    struct arena *arena, struct str **out, size_t *count);

#endif

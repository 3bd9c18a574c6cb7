/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_lookup.h - the look-up in an index that answers a query. Pure.
 *
 * An index answers a query if the query's filter binds each property of the index's partition key by `eq`,
 * and if the index has an entry for each entity that the filter can match.
 */
#ifndef DOMAIN_INDEXES_QUERY_LOOKUP_H
#define DOMAIN_INDEXES_QUERY_LOOKUP_H

#include "domain/catalogue/catalogue.h"
#include "domain/filter/filter.h"
#include "domain/operations/index_operations.h"

/* Whether each match of the filter has one value of this property. */
bool query_lookup_binds(const struct filter *filter, struct str property);

/* Whether the index answers queries with this filter. */
bool query_lookup_is_answered(const struct filter *filter, const struct index *index);

/*
 * Set `equals`, `equal_count` and `range` of *out, so that the look-up finds all matches of the filter. The
 * look-up can find other entities too: the caller tests each with filter_matches. *out borrows from the
 * filter.
 *
 * STATUS_INVALID  INVALID_INPUT: the index does not answer this filter; the message says why
 */
MUST_USE enum status query_lookup_plan(const struct filter *filter, const struct index *index,
    struct arena *arena, struct operation_lookup *out, struct error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_lookup.h - one look-up of a batch of short reads: it becomes ranges of entries; the
 * entries, with their sources if they are to be checked, become the outcome. The outcome is the
 * same as that of lookup_read.h.
 */
#ifndef STORE_SHORT_READS_SHORT_LOOKUP_H
#define STORE_SHORT_READS_SHORT_LOOKUP_H

#include "domain/indexes/lookup_plan.h"
#include "store/intents/lag.h"
#include "store/short_reads/short_ranges.h"

struct short_lookup {
    struct operation *operation;
    const struct index *index;
    bool reads_around; /* the look-up asks for the latest, and the index may be behind */
    bool stands;       /* its entries stand for their entities while nothing of the table is open */
    enum short_form form;
    struct lookup_range range;
    struct short_range *first; /* the first of its ranges; NULL: none */
    size_t count;
};

/* Whether a look-up may turn out to be short; for others an attempt is not worth its cost. */
bool short_lookup_may_be(const struct operation *operation);

/* Find the index. It fails if the operation must be refused, or if the catalogue has changed. */
MUST_USE enum status short_lookup_resolve(
    struct session *session, struct operation *operation, struct short_lookup *out, struct error *err);

/* Add the look-up's ranges. false: it must run alone. */
bool short_lookup_plan(
    const struct session *session, struct short_lookup *lookup, struct short_ranges *ranges);

/*
 * Note what has arrived, before it is taken. true: it was read as rows, which do not count, since
 * something of the table is open: plan the look-up again, which reads hits then.
 */
bool short_lookup_asks_again(struct session *session, struct short_lookup *lookup);

/* Set the outcome from the rows, which have arrived. false: it must run alone. */
bool short_lookup_take(struct short_lookup *lookup, const struct lag_seen *lag);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_lookup.h - one look-up of a batch of short reads: from what it asks to ranges of entries, and from the entries,
 * which come with their sources if they are to be checked, to its outcome. The outcome is that of lookup_read.h.
 */
#ifndef STORE_SHORT_READS_SHORT_LOOKUP_H
#define STORE_SHORT_READS_SHORT_LOOKUP_H

#include "domain/indexes/lookup_plan.h"
#include "store/intents/lag.h"
#include "store/short_reads/short_ranges.h"

struct short_lookup {
    struct operation *operation;
    const struct index *index;
    bool reads_around; /* asks for the latest of an index that can be behind */
    struct lookup_range range;
    struct short_range *first; /* of its ranges; NULL: none */
    size_t count;
};

/* Whether a look-up may turn out to be short; the others are not worth the attempt. */
bool short_lookup_may_be(const struct operation *operation);

/* Find the index. A failure is the operation's, or due to a catalogue that has changed. */
MUST_USE enum status short_lookup_resolve(
    const struct session *session, struct operation *operation, struct short_lookup *out, struct error *err);

/* Add its ranges. false: it has to run alone. */
bool short_lookup_plan(
    const struct session *session, struct short_lookup *lookup, struct short_ranges *ranges);

/* Its rows have come: set the outcome. false: it has to run alone. */
bool short_lookup_take(struct short_lookup *lookup, const struct lag_seen *lag);

#endif

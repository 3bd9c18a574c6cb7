/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_page.h - one page of a batch of short reads: some rows of one partition, with no filter on properties. The
 * outcome is that of page_read.h.
 */
#ifndef STORE_SHORT_READS_SHORT_PAGE_H
#define STORE_SHORT_READS_SHORT_PAGE_H

#include "store/short_reads/short_ranges.h"

struct short_page {
    struct operation *operation;
    const struct table *table;
    struct short_range *range; /* NULL: none */
};

/* Whether a page may turn out to be short; the others are not worth the attempt. */
bool short_page_may_be(const struct operation *operation);

/* Find the table. A failure is the operation's, or due to a catalogue that has changed. */
MUST_USE enum status short_page_resolve(
    const struct session *session, struct operation *operation, struct short_page *out, struct error *err);

/* Add its range. false: it has to run alone. */
bool short_page_plan(struct short_page *page, struct short_ranges *ranges);

/* Its rows have come: set the outcome. false: it has to run alone. */
bool short_page_take(struct short_page *page);

#endif

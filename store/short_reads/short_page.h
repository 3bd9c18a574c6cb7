/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_page.h - one page of a batch of short reads: rows of one partition, without a filter on
 * properties. The outcome is the same as that of page_read.h.
 */
#ifndef STORE_SHORT_READS_SHORT_PAGE_H
#define STORE_SHORT_READS_SHORT_PAGE_H

#include "store/short_reads/short_ranges.h"

struct short_page {
    struct operation *operation;
    const struct table *table;
    struct short_range *range; /* NULL: none */
};

/* Whether a page may turn out to be short; for others an attempt is not worth its cost. */
bool short_page_may_be(const struct operation *operation);

/* Find the table. It fails if the operation must be refused, or if the catalogue has changed. */
MUST_USE enum status short_page_resolve(
    const struct session *session, struct operation *operation, struct short_page *out, struct error *err);

/* Add the page's range. false: it must run alone. */
bool short_page_plan(struct short_page *page, struct short_ranges *ranges);

/* Set the outcome from the rows, which have arrived. false: it must run alone. */
bool short_page_take(struct short_page *page);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * period_tables.h - carries out the rules of tables that keep tables of periods
 * (domain/catalogue/table_periods.h): makes those that have to exist, and drops those that are past.
 *
 * Each table is made or dropped as by a caller's CreateTable or DeleteTable: in one commit, with an audit
 * record, within the account's quota. So a round that dies is completed by the next one, and two
 * rounds at once do no harm.
 */
#ifndef STORE_CATALOGUE_PERIOD_TABLES_H
#define STORE_CATALOGUE_PERIOD_TABLES_H

#include "store/session/worker_attempt.h"

struct period_counts {
    int64_t made, dropped;
    int64_t refused;      /* tables that could not be made or dropped; the next round tries again */
    struct error example; /* why the last of them was refused */
};

/* One round over all rules. A table that is refused does not keep others from being made. */
MUST_USE enum status period_tables_keep(
    struct worker *store, struct period_counts *counts, struct error *err);

#endif

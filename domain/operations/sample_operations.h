/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_operations.h - operations on samples: what servers have counted of the accesses to tables.
 */
#ifndef DOMAIN_OPERATIONS_SAMPLE_OPERATIONS_H
#define DOMAIN_OPERATIONS_SAMPLE_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "domain/sampling/hot_list.h"

struct index_advices;

/*
 * The time over which a sketch counts accesses to partitions and, for a week, query shapes. Stored:
 * the numbers never change.
 */
enum sample_span { SAMPLE_MINUTE = 1, SAMPLE_HOUR = 2, SAMPLE_WEEK = 3 };

/*
 * A sketch of one table in its stored form. It replaces the sketch that its server has stored for
 * the same table, span and period.
 */
struct sample_report {
    int64_t table_id; /* for an index: the id of the table of its entries */
    enum sample_span span;
    int64_t period;  /* a number that the server chooses */
    int32_t seconds; /* since the period began */
    struct str content;
};

struct operation_samples {
    int64_t server;                /* a random number of the process */
    struct sample_report *reports; /* to be stored, before anything is read */
    size_t report_count;

    /* Lists only. */
    enum sample_span span;
    struct str account, table; /* empty: all; a table only together with its account */
    int32_t limit;
};

struct outcome_samples {
    struct hot_partition *partitions;
    size_t count;
    /* OPERATION_INDEX_ADVISE alone: domain/indexes/index_advice.h */
    const struct index_advices *advices;
    int64_t queries, writes; /* of the table, as advices */
    /* the time over which these were counted; 0: nothing was counted */
    int64_t span_us;
};

#endif

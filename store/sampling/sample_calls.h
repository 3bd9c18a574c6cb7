/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_calls.h - samples of all servers: storing them, and reading which partitions are hot.
 *
 * Samples are hints: nothing depends on them, and rows go by their age.
 */
#ifndef STORE_SAMPLING_SAMPLE_CALLS_H
#define STORE_SAMPLING_SAMPLE_CALLS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/* Store the reports; none: nothing is sent. */
MUST_USE enum status sample_calls_send(
    struct session *session, const struct operation_samples *in, struct error *err);

/* The columns of samples that were read. */
enum sample_column { SAMPLE_TABLE, SAMPLE_CONTENT, SAMPLE_AGE_US };

/* The samples of this span, the newest first, no more than a reader can merge; of all tables if table_id is 0. */
MUST_USE enum status sample_calls_read(
    struct session *session, enum sample_span span, int64_t table_id, PGresult **out, struct error *err);

/* OPERATION_SAMPLES_STORE: store in.samples.reports, and remove what is too old. */
void sample_calls_store(struct session *session, struct operation *operation);

/*
 * OPERATION_HOT_PARTITIONS_LIST: store the reports, then merge what all servers have stored. TABLE_NOT_FOUND:
 * in.samples.table is not there.
 */
void sample_calls_list_hot(struct session *session, struct operation *operation);

#endif

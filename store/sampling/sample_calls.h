/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_calls.h - samples of all servers: storing them, and finding hot partitions from them.
 *
 * Samples are hints: nothing depends on them, and rows are deleted after some time.
 */
#ifndef STORE_SAMPLING_SAMPLE_CALLS_H
#define STORE_SAMPLING_SAMPLE_CALLS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/* Store the reports; if there are none, nothing is sent. */
MUST_USE enum status sample_calls_send(
    struct session *session, const struct operation_samples *in, struct error *err);

/* The columns of the result of sample_calls_read. */
enum sample_column { SAMPLE_TABLE, SAMPLE_CONTENT, SAMPLE_AGE_US };

/*
 * Read the samples of this span, the newest first, not more than a reader can merge; of all tables
 * if table_id is 0.
 */
MUST_USE enum status sample_calls_read(
    struct session *session, enum sample_span span, int64_t table_id, PGresult **out, struct error *err);

/* Give an OPERATION_SAMPLES_STORE its outcome: store in.samples.reports, and remove old samples. */
void sample_calls_store(struct session *session, struct operation *operation);

/*
 * Give an OPERATION_HOT_PARTITIONS_LIST its outcome: store the reports, then merge what all servers
 * have stored. TABLE_NOT_FOUND: the table in.samples.table does not exist.
 */
void sample_calls_list_hot(struct session *session, struct operation *operation);

#endif

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

/* OPERATION_SAMPLES_STORE: store in.samples.reports, and remove what is too old. */
void sample_calls_store(struct session *session, struct operation *operation);

/*
 * OPERATION_HOT_PARTITIONS_LIST: store the reports, then merge what all servers have stored. TABLE_NOT_FOUND: in.samples.table
 * is not there.
 */
void sample_calls_list_hot(struct session *session, struct operation *operation);

#endif

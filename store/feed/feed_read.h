/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_read.h - reads a change feed, page by page.
 */
#ifndef STORE_FEED_FEED_READ_H
#define STORE_FEED_FEED_READ_H

#include "domain/operations/operation.h"

struct session;

/* Give an OPERATION_CHANGES its outcome. */
void feed_read_run(struct session *session, struct operation *operation);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backlog.h - adds the workers' lag and the number of dead letters to the newest sample of the server's history.
 */
#ifndef SERVICE_PROBES_BACKLOG_H
#define SERVICE_PROBES_BACKLOG_H

#include "service/service.h"

/*
 * Begin to read both; does not block. If the database does not answer within five seconds, the sample stays
 * without them. Called after a sample was taken.
 */
void backlog_read(struct service *service);

#endif

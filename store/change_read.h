/*
 * change_read.h - reading a change feed, page by page.
 */
#ifndef STORE_CHANGE_READ_H
#define STORE_CHANGE_READ_H

#include "domain/operation.h"
#include "store/session.h"

/* Give an OPERATION_CHANGES its outcome. */
void change_read_run(struct session *session, struct operation *operation);

#endif

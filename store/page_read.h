/*
 * page_read.h - one page of a table: QueryEntities.
 */
#ifndef STORE_PAGE_READ_H
#define STORE_PAGE_READ_H

#include "domain/operation.h"
#include "store/session.h"

/* Give an OPERATION_PAGE its outcome. A page ends early by rows examined and by bytes. */
void page_read_run(struct session *session, struct operation *operation);

#endif

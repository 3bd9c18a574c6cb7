/*
 * list_read.h - reading a list index: rows, one per member, become pages with a `Members` property.
 */
#ifndef STORE_LIST_READ_H
#define STORE_LIST_READ_H

#include "domain/operation.h"
#include "store/session.h"

/* Give an OPERATION_GET on a list index's table its outcome; every key is the address of a page. */
void list_read_get(struct session *session, const struct index *index, struct operation *operation);

/* Give an OPERATION_PAGE on a list index's table its outcome: the pages that result from reading on. */
void list_read_page(struct session *session, const struct index *index, struct operation *operation);

#endif

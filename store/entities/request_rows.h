/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_rows.h - the records of writes with a request_id, in the transaction of the writes.
 *
 * If two servers run the same request at the same time, the locks of its rows put them in order:
 * the second server reads the record after it has the locks (guard G5). If two requests with the
 * same id write different rows, the primary key of the record refuses the second one. Records are
 * written last and in the order of their keys, so that no two transactions deadlock on them.
 */
#ifndef STORE_ENTITIES_REQUEST_ROWS_H
#define STORE_ENTITIES_REQUEST_ROWS_H

#include "domain/writes/request_record.h"

struct session;

/* One request id of a batch. Several operations may have it. */
struct request {
    struct str account, id;
    int16_t bucket;
    /*
     * the id under which a version without scoped ids has recorded the request; empty: the id has
     * no scope
     */
    struct str unscoped;
    struct request_record record, unscoped_record;
    bool is_new; /* the outcome was decided in this transaction */
};

struct requests {
    struct request *items; /* sorted by key */
    size_t count;
};

/*
 * Add the operation's request id; request_rows_sort then sorts the items and removes repeated ones.
 * false: the records must be read, because the request may be recorded under an id without a scope,
 * or because several operations have the same id.
 */
bool request_rows_add(struct requests *requests, const struct operation *operation);
bool request_rows_sort(struct requests *requests);

/* The operation's item; NULL if the operation has no request id. */
struct request *request_rows_find(const struct requests *requests, const struct operation *operation);

/* Send one statement that reads the records, none if there are no requests. */
MUST_USE enum status request_rows_send_get(
    struct session *session, const struct requests *requests, struct error *err);
MUST_USE enum status request_rows_take(struct session *session, struct requests *requests, struct error *err);

/*
 * If a version without scoped ids has recorded a request of a signature with the same content, use
 * that record for the request. To be removed with the version after the next.
 */
void request_rows_adopt(struct request *request, struct str digest);

/* Record the decided outcome: for repeats in this batch, and to be stored. */
void request_rows_note(
    struct request *request, const struct operation *operation, struct str digest, struct arena *arena);

/* Send one statement that stores the new records, none if there are none. */
MUST_USE enum status request_rows_send_insert(
    struct session *session, const struct requests *requests, struct error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_rows.h - the records of writes with a request_id, in the transaction of the writes.
 *
 * Two servers with the same request meet at the rows that it writes: the second one reads the record after it has the
 * locks (guard G5). Two requests with the same id that write different rows meet at the record's key. Records are
 * written last and in the order of their keys, so that no two transactions wait for each other there.
 */
#ifndef STORE_ENTITIES_REQUEST_ROWS_H
#define STORE_ENTITIES_REQUEST_ROWS_H

#include "domain/writes/request_record.h"
#include "store/session/session.h"

/* One id of a batch, however many operations have it. */
struct request {
    struct str account, id;
    int16_t bucket;
    struct str
        unscoped; /* the id as a version without scoped ids has recorded it; empty: the id has no scope */
    struct request_record record, unscoped_record;
    bool is_new; /* decided in this transaction */
};

struct requests {
    struct request *items; /* sorted by key */
    size_t count;
};

/*
 * An id; the items are sorted and united by request_rows_sort. false: the records must be read, since the request may
 * be recorded under an id without a scope, or since operations have the same id.
 */
bool request_rows_add(struct requests *requests, const struct operation *operation);
bool request_rows_sort(struct requests *requests);

/* The operation's item; NULL: it has no id. */
struct request *request_rows_find(const struct requests *requests, const struct operation *operation);

/* Ask for the records: one statement, if there is anything to ask for. */
MUST_USE enum status request_rows_send_get(
    struct session *session, const struct requests *requests, struct error *err);
MUST_USE enum status request_rows_take(struct session *session, struct requests *requests, struct error *err);

/*
 * A request of a signature that a version without scoped ids has recorded, if its content is the same: its record is
 * the request's. To be removed with the version after the next.
 */
void request_rows_adopt(struct request *request, struct str digest);

/* Make the decided outcome a record, for repeats in this batch and to be stored. */
void request_rows_note(
    struct request *request, const struct operation *operation, struct str digest, struct arena *arena);

/* Store what is new: one statement, if there is anything. */
MUST_USE enum status request_rows_send_insert(
    struct session *session, const struct requests *requests, struct error *err);

#endif

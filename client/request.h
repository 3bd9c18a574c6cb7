/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - requests as JSON objects, member by member.
 */
#ifndef CLIENT_REQUEST_H
#define CLIENT_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct request {
    struct buf buf;   /* the members so far, without the object's end */
    size_t page_from; /* where the token of a page stands; 0: there is none */
};

/* An empty object. request_end releases it; accepts NULL. */
void request_begin(struct request *request);
void request_end(struct request *request);

/* Members. text NULL, number 0, flag false: the member is left out. */
void request_text(struct request *request, const char *name, const char *text);
void request_number(struct request *request, const char *name, int64_t number);
void request_flag(struct request *request, const char *name, bool flag);

/* A member whose value is JSON. */
void request_json_member(struct request *request, const char *name, const char *json);

/*
 * Ask for the page of that token, in place of the one that was asked for before. No other member comes after
 * it.
 */
void request_page_token(struct request *request, const char *token);

/* The whole object; borrowed until the request is changed. */
const char *request_json(struct request *request);

#endif

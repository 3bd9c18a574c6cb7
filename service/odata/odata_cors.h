/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_cors.h - what browsers are told about calls by pages of other origins: domain/catalogue/cors_rules.h has the rules, which the
 * account in the URL has set. They hide nothing: a caller still needs its credential.
 */
#ifndef SERVICE_ODATA_ODATA_CORS_H
#define SERVICE_ODATA_ODATA_CORS_H

#include "service/http/door.h"

/* Add the headers of CORS to the reply to a call, be it an error or not. */
void odata_cors_add_headers(struct http_call *http);

/* Fill the reply to a preflight, which needs no credential. */
void odata_cors_answer_preflight(struct http_call *http);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_cors.h - tells browsers which calls pages of other origins may make. The account in the URL has set
 * the rules (domain/catalogue/cors_rules.h). The rules protect no data: a caller still needs its credential.
 */
#ifndef SERVICE_ODATA_ODATA_CORS_H
#define SERVICE_ODATA_ODATA_CORS_H

#include "service/http/door.h"

/* Add the CORS headers to a reply, whether it is an error or not. */
void odata_cors_add_headers(struct http_call *http);

/* Fill in the reply to a preflight, which needs no credential. */
void odata_cors_answer_preflight(struct http_call *http);

#endif

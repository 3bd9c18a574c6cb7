/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any_call.h - unary methods by name, with requests as JSON.
 */
#ifndef CLIENT_LIB_ANY_CALL_H
#define CLIENT_LIB_ANY_CALL_H

#include "api/json/schema.h"
#include "base/arena.h"
#include "client/lib/tavola.h"

/*
 * By the end of its path, such as "GetEntity". NULL: there is none, there are several, or it is a stream;
 * error says so.
 */
const struct schema_method *any_call_find(const char *name, struct tavola_error *error);

/* Make the call; the reply's bytes are in the arena. The method of the question is not looked at. */
enum tavola_code any_call_run(struct tavola *client, const struct schema_method *method,
    const struct tavola_question *question, struct arena *arena, struct str *reply,
    struct tavola_error *error);

#endif

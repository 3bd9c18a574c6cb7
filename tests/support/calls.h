/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - requests of the store as tests make them: an operation, run at once on a session.
 *
 * The account is "acme", as in worker_world.h. Entities have one property, Value, a text.
 */
#ifndef TESTS_SUPPORT_CALLS_H
#define TESTS_SUPPORT_CALLS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/* An operation in the arena, with all other members empty. */
struct operation *call_make(struct arena *arena, enum operation_kind kind, const char *table);

/* Fail the test unless the operation succeeded; unless it failed for this reason. */
void call_succeeded(const struct operation *operation);
void call_failed(const struct operation *operation, const char *reason);

struct entity_key call_key(const char *partition, const char *row);
struct property_list call_value(struct arena *arena, const char *value);

/* Run one write; value NULL: no properties. Returns the operation with its outcome. */
struct operation *call_write(struct session *session, struct arena *arena, enum write_kind kind,
    const char *table, struct entity_key key, const char *value);

/* The Value of an entity; NULL if the entity is absent. */
const char *call_read(struct session *session, struct arena *arena, const char *table, struct entity_key key);

#endif

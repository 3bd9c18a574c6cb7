/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builders.h - short ways to make what a test needs: properties, writes, operations, and a scene to run them in: a
 * database of its own, a store on it, and the table Things of the account acme.
 */
#ifndef TESTS_SUPPORT_BUILDERS_H
#define TESTS_SUPPORT_BUILDERS_H

#include "domain/operations/operation.h"
#include "store/store.h"
#include "tests/support/postgres_server.h"

/* ---- values ---- */

/* Pairs of a name and a text, ascending by name, NULL at the end. */
__attribute__((sentinel)) struct property_list some_texts(struct arena *arena, ...);

/* The text of a property; "" if the property is absent or no text. */
struct str text_of(struct property_list list, const char *name);

struct entity_key a_key(const char *partition, const char *row);

/* A write without a condition. */
struct write a_write(
    enum write_kind kind, const char *partition, const char *row, struct property_list properties);

struct condition if_match(struct etag etag);

/* ---- operations ---- */

/* An operation on a table of acme, in the arena, with a deadline far away. */
struct operation *an_operation(struct arena *arena, enum operation_kind kind, const char *table);

/* A single write or an entity group transaction. */
struct operation *a_write_operation(struct arena *arena, const char *table, struct write write);
struct operation *a_group(struct arena *arena, const char *table, const struct write *writes, size_t count);

/* A read of these keys. */
struct operation *a_get(struct arena *arena, const char *table, const struct entity_key *keys, size_t count);

/* The first page of the table. */
struct operation *a_page(struct arena *arena, const char *table, int32_t limit);

/* Set the filter of a page or a count. */
void set_filter(struct operation *page, const char *filter);

/* Submit an operation; wait for its outcome (the test fails after half a minute); submit and wait. */
void submit(struct store *store, struct operation *operation);
void await(struct operation *operation);
void run(struct store *store, struct operation *operation);

/* Whether the operation has its outcome. */
bool is_answered(struct operation *operation);

/* The name of the error's reason; "OK" if there is no error. */
const char *reason_of(const struct operation *operation);

/* A value of the error's metadata; "" if it is absent. */
const char *meta_of(const struct error *err, const char *key);

#define ck_assert_reason(operation, reason) ck_assert_str_eq(reason_of(operation), reason)

/* ---- the scene ---- */

struct scene {
    const char *conninfo;
    PGconn *sql; /* for preparing and inspecting data */
    struct store *store;
    struct arena arena;
};

/* The options with which tests open a store. */
struct store_options plain_options(const char *conninfo);

void scene_open(struct scene *scene);
void scene_close(struct scene *scene);

/* Create a table; returns its id. */
long long scene_table(struct scene *scene, const char *name);

/* Run one write on Things, which must succeed, or be refused with this reason. */
struct write_result scene_write(struct scene *scene, struct write write);
void scene_refused(struct scene *scene, struct write write, const char *reason);

/* The entity of Things; NULL if it is absent. */
const struct entity *scene_read(struct scene *scene, const char *partition, const char *row);

/* Run SQL as a catalogue change: through the fence, with a new version. */
void scene_change(struct scene *scene, const char *statements);

/* Insert an index with its table by SQL, in the state that it has; account and source are acme and Things. */
void scene_index(struct scene *scene, struct index *index);

/* Insert the entry that this entity has in the index, as a worker would; returns the entry's key. */
struct entity_key scene_entry(struct scene *scene, const struct index *index, const struct entity *source);

/* Bytes as SQL: '\x...'::bytea. */
const char *as_bytea(struct arena *arena, struct str bytes);

#endif

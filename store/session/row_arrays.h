/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_arrays.h - arrays of keys and rows as parameters of the entity statements.
 */
#ifndef STORE_SESSION_ROW_ARRAYS_H
#define STORE_SESSION_ROW_ARRAYS_H

#include "domain/keys/entity_key.h"
#include "domain/writes/write_plan.h"
#include "store/session/session.h"

/* The columns with which most statements begin: tables, partition keys, row keys, buckets. */
struct key_arrays {
    struct pg_array tables, partitions, rows, buckets;
};

void key_arrays_init(struct key_arrays *arrays, struct arena *arena);
void key_arrays_put(
    struct key_arrays *arrays, int64_t table_id, const struct entity_key *key, int16_t bucket);
void key_arrays_add(struct key_arrays *arrays, struct pg_params *params);

/* Pairs of a table and the name of a property, of which entries are made (domain/indexes/index_names.h). */
struct name_arrays {
    struct pg_array tables, names;
};

void name_arrays_init(struct name_arrays *arrays, struct arena *arena);
void name_arrays_put(struct name_arrays *arrays, int64_t table_id, const struct str *names, size_t count);
void name_arrays_add(struct name_arrays *arrays, struct pg_params *params);

/* The columns that follow the key: version, ts, dead, properties, expires (0: never). */
struct state_arrays {
    struct pg_array versions, ts, dead, properties, expires;
};

void state_arrays_init(struct state_arrays *arrays, struct arena *arena);
void state_arrays_put(struct state_arrays *arrays, const struct row_state *state);
void state_arrays_add(struct state_arrays *arrays, struct pg_params *params);

/* What state_update writes into index state rows that this transaction has locked. */
struct manifest_arrays {
    struct pg_array ctids, applied, manifests, entry_ctids;
};

void manifest_arrays_init(struct manifest_arrays *arrays, struct arena *arena);

/* ctid: of the state row. entry_ctids: as manifest_ctids_encode returns them; empty: not known. */
void manifest_arrays_put(struct manifest_arrays *arrays, struct str ctid, int64_t applied,
    struct str manifest, struct str entry_ctids);

/* Send state_update, or nothing if there are no rows. */
MUST_USE enum status manifest_arrays_send(
    struct manifest_arrays *arrays, struct session *session, struct error *err);

#endif

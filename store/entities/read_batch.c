/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_batch.c - see the header. Each statement returns the catalogue's version too, so that a read
 * never returns entities of a table that was deleted.
 */
#include "store/entities/read_batch.h"

#include "base/clock.h"
#include "domain/indexes/index_plan.h"
#include "domain/operations/operation_times.h"
#include "store/entities/wide_read.h"
#include "store/queries/shape_reader.h"
#include "store/session/attempt.h"
#include "store/session/resolve.h"
#include "store/session/row_arrays.h"
#include "store/session/unit_of_work.h"
#include "store/sql.h"

enum {
    MAX_ATTEMPTS = 6,
    /* of keys: a socket buffers this much, so sending does not wait for the server to read */
    MAX_BEGUN_BYTES = 32 * 1024,
    /* operations; a smaller batch is one statement, since a second one costs as much as 3 keys */
    MIN_PARTED = 48,
    MAX_READ_BYTES = 32 << 20, /* of properties that one statement returns */
    NO_TABLE = 0,              /* the id of no table */
    /* a statement of up to this many keys returns them however large they are */
    WHOLE_KEYS = 16,
};

/*
 * One operation with its table. The keys of all operations stand one after another in the arrays.
 */
struct read {
    struct operation *operation;
    const struct table *table;
    size_t bytes; /* of properties read so far */
    /*
     * an entity was too large to be returned with the others: the statement's result does not count
     * for this operation
     */
    bool left_out;
};

enum column { COLUMN_N, COLUMN_CATALOGUE, COLUMN_VERSION, COLUMN_TS, COLUMN_PROPERTIES, COLUMN_EXPIRES };

/* Take the result for one key. false: its properties were left out. */
static bool fill_key(const struct read *read, size_t k, const PGresult *result, int row)
{
    const struct entity_key *key = &read->operation->in.get.keys[k];
    struct outcome_get *out = &read->operation->out.get;
    struct entity *entity = &out->entities[k];

    out->found[k] = !PQgetisnull(result, row, COLUMN_VERSION);
    if (!out->found[k])
        return true;
    if (PQgetisnull(result, row, COLUMN_PROPERTIES))
        return false;
    *entity = (struct entity){
        .key = *key,
        .etag = { .table_id = read->table->table_id, .version = pg_int8(result, row, COLUMN_VERSION) },
        .timestamp = pg_int8(result, row, COLUMN_TS),
        .expires = PQgetisnull(result, row, COLUMN_EXPIRES) ? 0 : pg_int8(result, row, COLUMN_EXPIRES),
        .properties.bytes = arena_copy(read->operation->arena, pg_bytes(result, row, COLUMN_PROPERTIES)),
    };
    return true;
}

static void fill_none(struct read *read)
{
    struct operation *operation = read->operation;
    size_t count = operation->in.get.count;

    operation->out.get = (struct outcome_get){
        .entities = ARENA_ARRAY(operation->arena, struct entity, count),
        .found = ARENA_ARRAY(operation->arena, bool, count),
    };
    operation->status = STATUS_OK;
    operation->error = NULL;
    read->bytes = 0;
}

static bool is_full(const struct read *read)
{
    const struct operation_get *in = &read->operation->in.get;

    return read->operation->out.get.count == in->count ||
           (in->enough_bytes > 0 && read->bytes > in->enough_bytes);
}

/*
 * Take the results for the next `count` keys. Stops at the first key whose properties were left
 * out, and returns false.
 */
static bool fill_some(struct read *read, const PGresult *result, int row, size_t count)
{
    struct outcome_get *out = &read->operation->out.get;

    for (size_t i = 0; i < count && !is_full(read); i++) {
        if (!fill_key(read, out->count, result, row + (int)i))
            return false;
        read->bytes += out->entities[out->count++].properties.bytes.len;
    }
    return true;
}

/* Take the results for all keys of the operation, or, if one was left out, for none. */
static void fill_read(struct read *read, const PGresult *result, int row)
{
    struct arena *arena = read->operation->arena, before = *arena;

    fill_none(read);
    read->left_out = !fill_some(read, result, row, read->operation->in.get.count);
    if (read->left_out) {
        arena_rewind(arena, &before);
        read->operation->out.get = (struct outcome_get){ 0 };
    }
}

/*
 * The table in which a key is searched. If the caller may not see the key, it is NO_TABLE, so that
 * the search takes as long whether the entity exists or not.
 */
static int64_t table_of(const struct read *read, const struct entity_key *key)
{
    const struct key_range *within = read->operation->within;

    return within && !key_range_contains(within, key) ? NO_TABLE : read->table->table_id;
}

static enum status send_one(struct session *session, const struct read *read, struct error *err)
{
    const struct entity_key *key = &read->operation->in.get.keys[0];
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, table_of(read, key));
    pg_add_bytes(&params, key->partition);
    pg_add_bytes(&params, key->row);
    pg_add_int2(&params, index_plan_bucket(read->table, key->partition));
    return pg_send(&session->pg, &sql_entity_get_one, &params, err);
}

static size_t keys_of(const struct read *reads, size_t count)
{
    size_t keys = 0;

    for (size_t i = 0; i < count; i++)
        keys += reads[i].operation->in.get.count;
    return keys;
}

/*
 * The bound on the properties of each key, such that those of all keys stay within MAX_READ_BYTES.
 */
static int32_t max_of_each(size_t keys)
{
    return keys <= WHOLE_KEYS ? INT32_MAX : MAX_READ_BYTES / (int32_t)keys;
}

/* Add `count` of the operation's keys, beginning with number `from`. */
static void put_keys(struct key_arrays *keys, const struct read *read, size_t from, size_t count)
{
    const struct entity_key *wanted = &read->operation->in.get.keys[from];

    for (size_t k = 0; k < count; k++)
        key_arrays_put(keys, table_of(read, &wanted[k]), &wanted[k],
            index_plan_bucket(read->table, wanted[k].partition));
}

static enum status send_keys(struct session *session, struct key_arrays *keys, int32_t max, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    key_arrays_add(keys, &params);
    pg_add_int4(&params, max);
    return pg_send(&session->pg, &sql_entity_get, &params, err);
}

static enum status send_many(
    struct session *session, const struct read *reads, size_t count, int32_t max, struct error *err)
{
    struct key_arrays keys;

    key_arrays_init(&keys, &session->arena);
    for (size_t i = 0; i < count; i++)
        put_keys(&keys, &reads[i], 0, reads[i].operation->in.get.count);
    return send_keys(session, &keys, max, err);
}

/* max: bytes of properties; an entity with more comes without its properties. */
static enum status send_reads(
    struct session *session, const struct read *reads, size_t count, int32_t max, struct error *err)
{
    if (count == 1 && reads[0].operation->in.get.count == 1)
        TRY(send_one(session, &reads[0], err));
    else
        TRY(send_many(session, reads, count, max, err));
    return pg_sync(&session->pg, err);
}

/* STATUS_STALE: the catalogue has changed since the names were resolved. */
static enum status take_rows(struct session *session, size_t keys, PGresult **out, struct error *err)
{
    int expected = (int)keys;

    TRY(pg_next(&session->pg, out, err));
    TRY(pg_end(&session->pg, err));
    if (PQntuples(*out) > 0 && pg_int8(*out, 0, COLUMN_CATALOGUE) != session->catalogue->version)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    if (PQntuples(*out) != expected || (expected > 0 && pg_int8(*out, expected - 1, COLUMN_N) != expected))
        return error_set(
            err, STATUS_INTERNAL, "a read of %d keys returned %d rows", expected, PQntuples(*out));
    return STATUS_OK;
}

/* *left_out: the number of operations of which an entity was left out for being too large. */
static enum status take_reads(
    struct session *session, struct read *reads, size_t count, size_t *left_out, struct error *err)
{
    PG_RESULT result = NULL;
    int row = 0;

    TRY(take_rows(session, keys_of(reads, count), &result, err));
    *left_out = 0;
    for (size_t i = 0; i < count; i++) {
        fill_read(&reads[i], result, row);
        row += (int)reads[i].operation->in.get.count;
        *left_out += reads[i].left_out;
    }
    return STATUS_OK;
}

/* ---- what was left out ---- */

/* Read operations that have one key each. */
static enum status read_singles(struct session *session, struct read *reads, size_t count, struct error *err)
{
    size_t some, none;

    for (; count > 0; reads += some, count -= some) {
        some = count < WHOLE_KEYS ? count : WHOLE_KEYS;
        TRY(send_reads(session, reads, some, max_of_each(some), err));
        TRY(take_reads(session, reads, some, &none, err));
    }
    return STATUS_OK;
}

/*
 * Read the next `count` keys. Stops before the first entity that is too large; then *came is false.
 */
static enum status read_some(
    struct session *session, struct read *read, size_t count, bool *came, struct error *err)
{
    struct key_arrays keys;
    PG_RESULT result = NULL;

    key_arrays_init(&keys, &session->arena);
    put_keys(&keys, read, read->operation->out.get.count, count);
    TRY(send_keys(session, &keys, max_of_each(count), err));
    TRY(pg_sync(&session->pg, err));
    TRY(take_rows(session, count, &result, err));
    *came = fill_some(read, result, 0, count);
    return STATUS_OK;
}

/*
 * Read the operation again from its first key, in an open snapshot. A step has few keys at first,
 * and twice as many each time that no entity is left out.
 */
static enum status read_in_steps(struct session *session, struct read *read, struct error *err)
{
    size_t step = WHOLE_KEYS;

    fill_none(read);
    while (!is_full(read)) {
        size_t left = read->operation->in.get.count - read->operation->out.get.count;
        bool came;

        TRY(read_some(session, read, left < step ? left : step, &came, err));
        step = came ? 2 * step : WHOLE_KEYS;
    }
    return STATUS_OK;
}

/*
 * A caller that reads several keys must see all of an entity group transaction's writes or none, so
 * all steps run in one snapshot.
 */
static enum status read_in_snapshot(struct session *session, struct read *read, struct error *err)
{
    if (session_in_snapshot(session))
        return read_in_steps(session, read, err);
    TRY(session_begin_snapshot(session, err));
    TRY(read_in_steps(session, read, err));
    return session_end_snapshot(session, err);
}

/*
 * Read what was left out: all operations with one key together, every other operation by itself.
 * Changes the order of the reads.
 */
static enum status read_left_out(struct session *session, struct read *reads, size_t count, struct error *err)
{
    size_t singles = 0;

    for (size_t i = 0; i < count; i++) {
        if (!reads[i].left_out)
            continue;
        if (reads[i].operation->in.get.count == 1)
            reads[singles++] = reads[i];
        else
            TRY(read_in_snapshot(session, &reads[i], err));
    }
    return read_singles(session, reads, singles, err);
}

static enum status read_now(struct session *session, struct read *reads, size_t count, struct error *err)
{
    size_t left_out = 0;

    if (count == 0)
        return STATUS_OK;
    TRY(send_reads(session, reads, count, max_of_each(keys_of(reads, count)), err));
    TRY(take_reads(session, reads, count, &left_out, err));
    return left_out > 0 ? read_left_out(session, reads, count, err) : STATUS_OK;
}

/* ---- a batch ---- */

struct gathered {
    struct operation *batch;
    bool shares_lane; /* the lane has operations that must not wait for long ones */
};

/*
 * Resolve the names. An operation that fails gets its outcome at once. An operation whose table has
 * a reader of its own (shape_reader.h) or wide entities is read at once, which may begin a snapshot; if
 * shares_lane is set it is left to the lane of pages, since such readers take long. The operations that are not
 * put into `reads` may have been decided from the catalogue alone.
 */
static enum status gather_reads(struct session *session, const struct gathered *gathered, struct read *reads,
    size_t *count, struct error *err)
{
    *count = 0;
    for (struct operation *operation = gathered->batch; operation; operation = operation->next) {
        const struct table *table;
        struct error own;

        if (resolve_table(session, operation, &table, &own) != STATUS_OK)
            operation_fail(operation, &own);
        else if ((shape_reader_find(table) || table->is_wide) && gathered->shares_lane)
            operation_times_set_detour(operation, DETOUR_ALONE);
        else if (table->is_wide)
            TRY(wide_read_run(session, table, operation, err));
        else if (shape_reader_find(table))
            TRY(shape_reader_find(table)->get(session, table->entries_of, operation, err));
        else
            reads[(*count)++] = (struct read){ .operation = operation, .table = table };
    }
    return STATUS_OK;
}

static size_t length_of(const struct operation *batch)
{
    size_t length = 0;

    for (; batch; batch = batch->next)
        length++;
    return length;
}

static struct read *room_for(const struct operation *batch, struct arena *arena)
{
    return ARENA_ARRAY(arena, struct read, length_of(batch));
}

/*
 * The reads compare the catalogue's version, so operations refused beside them need no statement of
 * their own for that.
 */
static enum status read_all(struct session *session, void *context, struct error *err)
{
    const struct gathered *gathered = context;
    struct operation *batch = gathered->batch;
    struct read *reads = room_for(batch, &session->arena);
    size_t count = 0;

    TRY(gather_reads(session, gathered, reads, &count, err));
    session_asks_version(session);
    TRY(read_now(session, reads, count, err));
    if (keys_of(reads, count) > 0)
        session_note_confirmed(session);
    TRY(session_end_snapshot(session, err));
    if (count == length_of(batch))
        return STATUS_OK;
    return session_confirm(session, operation_times_latest_us(batch), err);
}

enum status read_batch_within(struct session *session, struct operation *batch, struct error *err)
{
    struct read *reads = room_for(batch, &session->arena);
    size_t count = 0;

    TRY(gather_reads(session, &(struct gathered){ .batch = batch }, reads, &count, err));
    return read_now(session, reads, count, err);
}

void read_batch_run(struct session *session, struct operation *batch, void *context)
{
    struct gathered gathered = { batch, context != NULL };
    const struct unit_of_work unit = { .attempt = read_all,
        .context = &gathered,
        .max_attempts = MAX_ATTEMPTS,
        .is_temporary = pg_is_transient };
    struct error err = { 0 };

    /* clears what a failed read_batch_begin or read_batch_finish has left */
    pg_recover(&session->pg);
    if (unit_of_work_run(session, &unit, &err) == STATUS_OK)
        return;
    for (struct operation *operation = batch; operation; operation = operation->next)
        attempt_fail(operation, &err);
}

/* ---- in steps ---- */

/*
 * A large batch is two statements: while the database runs the second one, the reads of the first
 * are answered.
 */
struct begun {
    size_t count;
    size_t taken;
    size_t part; /* number of operations in the first statement */
    /* operations that were left out so far; they come first in what is left of the batch */
    size_t left_out;
    struct read reads[];
};

static size_t key_bytes(const struct operation_get *in)
{
    size_t bytes = 0;

    for (size_t k = 0; k < in->count; k++)
        bytes += sizeof(struct entity_key) + in->keys[k].partition.len + in->keys[k].row.len;
    return bytes;
}

void *read_batch_begin(struct session *session, struct operation *batch)
{
    struct begun *begun;
    int32_t max;
    size_t count = 0, bytes = 0;
    struct error ignored;

    if (!session_is_ready(session))
        return NULL;
    for (struct operation *operation = batch; operation; operation = operation->next, count++)
        bytes += key_bytes(&operation->in.get);
    if (bytes > MAX_BEGUN_BYTES)
        return NULL;
    begun = arena_calloc(&session->arena, 1, sizeof(*begun) + count * sizeof(begun->reads[0]));
    for (struct operation *operation = batch; operation; operation = operation->next) {
        struct read *read = &begun->reads[begun->count++];

        *read = (struct read){ .operation = operation };
        if (resolve_table(session, operation, &read->table, &ignored) != STATUS_OK)
            return NULL;
        if (shape_reader_find(read->table) || read->table->is_wide)
            return NULL;
    }
    begun->part = count < MIN_PARTED ? count : (count + 1) / 2;
    max = max_of_each(keys_of(begun->reads, count));
    if (send_reads(session, begun->reads, begun->part, max, &ignored) != STATUS_OK)
        return NULL;
    if (begun->part < count &&
        send_reads(session, begun->reads + begun->part, count - begun->part, max, &ignored) != STATUS_OK)
        return NULL;
    return begun;
}

/*
 * Take the results of the next statement. An operation that was left out stays in the batch, to be
 * read after all statements are answered.
 */
bool read_batch_finish(
    struct session *session, void *begun_reads, struct operation **batch, struct operation **decided)
{
    struct begun *begun = begun_reads;
    struct read *reads = begun->reads + begun->taken;
    size_t count = begun->taken == 0 ? begun->part : begun->count - begun->taken, left_out;
    struct operation **end = decided;
    struct error ignored;

    *decided = NULL;
    if (take_reads(session, reads, count, &left_out, &ignored) != STATUS_OK)
        return false;
    for (size_t i = 0; i < begun->left_out; i++)
        batch = &(*batch)->next;
    for (size_t i = 0; i < count; i++) {
        if (reads[i].left_out) {
            batch = &(*batch)->next;
            continue;
        }
        *end = *batch;
        end = &(*end)->next;
        *batch = *end;
    }
    *end = NULL;
    begun->taken += count;
    begun->left_out += left_out;
    return begun->taken < begun->count;
}

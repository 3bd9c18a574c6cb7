/*
 * read_batch.c - see the header. The statement brings the catalogue's version along, so that a read never
 * answers from a table that has been deleted.
 */
#include "store/read_batch.h"

#include "store/failure.h"
#include "store/list_read.h"
#include "store/resolve.h"
#include "store/row_arrays.h"
#include "store/sql.h"

enum {
    MOST_ATTEMPTS = 3,
    MOST_BEGUN_BYTES = 32 * 1024, /* of keys: a socket takes them without waiting for its reader */
    LEAST_PARTED = 48, /* operations: a smaller batch is one statement, since each costs as much as 3 keys */
};

/* One operation with its table; the keys of all stand one after another in the arrays. */
struct read {
    struct operation *operation;
    const struct table *table;
};

static void fill(const struct read *read, const PGresult *result, int first)
{
    const struct operation_get *in = &read->operation->in.get;
    struct outcome_get *out = &read->operation->out.get;
    struct arena *arena = read->operation->arena;

    out->entities = ARENA_ARRAY(arena, struct entity, in->count);
    out->found = ARENA_ARRAY(arena, bool, in->count);
    for (size_t k = 0; k < in->count; k++) {
        int row = first + (int)k;

        if (PQgetisnull(result, row, 2) ||
            (read->operation->within && !key_range_contains(read->operation->within, &in->keys[k])))
            continue;
        out->found[k] = true;
        out->entities[k] = (struct entity){
            .key = in->keys[k],
            .etag = { read->table->table_id, pg_int8(result, row, 2) },
            .timestamp = pg_int8(result, row, 3),
            .properties = { arena_copy(arena, pg_bytes(result, row, 4)) },
            .expires = PQgetisnull(result, row, 5) ? 0 : pg_int8(result, row, 5),
        };
    }
    read->operation->status = STATUS_OK;
    read->operation->error = NULL;
}

static enum status send_one(struct session *session, const struct read *read, struct error *err)
{
    const struct entity_key *key = &read->operation->in.get.keys[0];
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, read->table->table_id);
    pg_add_bytes(&params, key->partition);
    pg_add_bytes(&params, key->row);
    pg_add_int2(&params, bucket_of(read->table->table_id, key->partition));
    return pg_send(&session->pg, &sql_entity_get_one, &params, err);
}

static enum status send_many(
    struct session *session, const struct read *reads, size_t count, struct error *err)
{
    struct key_arrays keys;
    struct pg_params params;

    key_arrays_init(&keys, &session->arena);
    for (size_t i = 0; i < count; i++) {
        const struct operation_get *in = &reads[i].operation->in.get;
        int64_t table_id = reads[i].table->table_id;

        for (size_t k = 0; k < in->count; k++)
            key_arrays_put(&keys, table_id, &in->keys[k], bucket_of(table_id, in->keys[k].partition));
    }
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    return pg_send(&session->pg, &sql_entity_get, &params, err);
}

static enum status send(struct session *session, const struct read *reads, size_t count, struct error *err)
{
    if (count == 1 && reads[0].operation->in.get.count == 1)
        TRY(send_one(session, &reads[0], err));
    else
        TRY(send_many(session, reads, count, err));
    return pg_sync(&session->pg, err);
}

/* STATUS_STALE: the catalogue has changed since the names were resolved. */
static enum status take(struct session *session, const struct read *reads, size_t count, struct error *err)
{
    PG_RESULT result = NULL;
    int row = 0, expected = 0;

    for (size_t i = 0; i < count; i++)
        expected += (int)reads[i].operation->in.get.count;
    TRY(pg_next(&session->pg, &result, err));
    TRY(pg_end(&session->pg, err));
    if (PQntuples(result) > 0 && pg_int8(result, 0, 1) != session->catalogue->version)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    if (PQntuples(result) != expected || (expected > 0 && pg_int8(result, expected - 1, 0) != expected))
        return error_set(
            err, STATUS_INTERNAL, "a read of %d keys brought %d rows", expected, PQntuples(result));
    for (size_t i = 0; i < count; i++) {
        fill(&reads[i], result, row);
        row += (int)reads[i].operation->in.get.count;
    }
    return STATUS_OK;
}

/* Resolve names; what fails gets its outcome at once. List indexes are read on their own. */
static enum status gather(
    struct session *session, struct operation *batch, struct read *reads, size_t *count, struct error *err)
{
    *count = 0;
    for (struct operation *operation = batch; operation; operation = operation->next) {
        const struct table *table;
        struct error own;

        if (resolve_table(session, operation, &table, &own) != STATUS_OK)
            operation_fail(operation, &own);
        else if (table->entries_of && table->entries_of->shape == INDEX_LIST)
            TRY(list_read_get(session, table->entries_of, operation, err));
        else
            reads[(*count)++] = (struct read){ operation, table };
    }
    return STATUS_OK;
}

/* Ask until it is decided. */
static enum status read_all(
    struct session *session, struct operation *batch, struct read *reads, struct error *err)
{
    size_t count = 0;

    TRY(session_ensure(session, err));
    TRY(resolve_refresh(session, batch, err));
    TRY(gather(session, batch, reads, &count, err));
    if (count == 0)
        return STATUS_OK;
    TRY(send(session, reads, count, err));
    return take(session, reads, count, err);
}

static struct read *room_for(const struct operation *batch, struct arena *arena)
{
    size_t most = 0;

    for (const struct operation *operation = batch; operation; operation = operation->next)
        most++;
    return ARENA_ARRAY(arena, struct read, most);
}

enum status read_batch_within(struct session *session, struct operation *batch, struct error *err)
{
    struct read *reads = room_for(batch, &session->arena);
    size_t count = 0;

    TRY(gather(session, batch, reads, &count, err));
    if (count == 0)
        return STATUS_OK;
    TRY(send(session, reads, count, err));
    return take(session, reads, count, err);
}

void read_batch_run(struct session *session, struct operation *batch, void *context)
{
    struct error err = { 0 };
    struct read *reads = room_for(batch, &session->arena);

    (void)context;
    pg_recover(&session->pg); /* what a failed step has left */
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        struct error ignored;
        enum status status = read_all(session, batch, reads, &err);

        if (status == STATUS_OK)
            return;
        pg_recover(&session->pg);
        if (status == STATUS_STALE && session_reload(session, &ignored) != STATUS_OK)
            pg_recover(&session->pg);
    }
    for (struct operation *operation = batch; operation; operation = operation->next)
        fail_operation(operation, &err);
}

/* ---- in steps ---- */

/* A large batch is two statements: while the database is at the second, the first is answered. */
struct begun {
    size_t count;
    size_t taken;
    size_t part; /* so many are the first statement's */
    struct read reads[];
};

static size_t key_bytes(const struct operation_get *in)
{
    size_t bytes = 0;

    for (size_t k = 0; k < in->count; k++)
        bytes += sizeof(struct entity_key) + in->keys[k].partition.len + in->keys[k].row.len;
    return bytes;
}

static void *begin(struct session *session, struct operation *batch)
{
    struct begun *begun;
    size_t count = 0, bytes = 0;
    struct error ignored;

    if (!pg_is_open(&session->pg) || !session->catalogue || session->known != session->pg.connects)
        return NULL;
    for (struct operation *operation = batch; operation; operation = operation->next, count++)
        bytes += key_bytes(&operation->in.get);
    if (bytes > MOST_BEGUN_BYTES)
        return NULL;
    begun = arena_calloc(&session->arena, 1, sizeof(*begun) + count * sizeof(begun->reads[0]));
    for (struct operation *operation = batch; operation; operation = operation->next) {
        struct read *read = &begun->reads[begun->count++];

        *read = (struct read){ .operation = operation };
        if (resolve_table(session, operation, &read->table, &ignored) != STATUS_OK)
            return NULL;
        if (read->table->entries_of && read->table->entries_of->shape == INDEX_LIST)
            return NULL;
    }
    begun->part = count < LEAST_PARTED ? count : (count + 1) / 2;
    if (send(session, begun->reads, begun->part, &ignored) != STATUS_OK)
        return NULL;
    if (begun->part < count &&
        send(session, begun->reads + begun->part, count - begun->part, &ignored) != STATUS_OK)
        return NULL;
    return begun;
}

static int finish(struct session *session, void *begun_reads)
{
    struct begun *begun = begun_reads;
    size_t count = begun->taken == 0 ? begun->part : begun->count - begun->taken;
    struct error ignored;

    if (take(session, begun->reads + begun->taken, count, &ignored) != STATUS_OK)
        return 0;
    begun->taken += count;
    return (int)count;
}

const struct lane_steps read_batch_steps = { .begin = begin, .finish = finish };

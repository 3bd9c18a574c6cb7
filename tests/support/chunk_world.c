/* SPDX-License-Identifier: Apache-2.0 */
/* chunk_world.c - see the header. */
#include "tests/support/chunk_world.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "store/blobs/blob_calls.h"
#include "store/blobs/blob_collect.h"
#include "store/blobs/blob_put.h"
#include "store/blobs/blob_read.h"

/* ---- the stores ---- */

static struct memory_object *find_object(struct memory_store *memory, const char *name)
{
    for (int i = 0; i < CHUNK_WORLD_OBJECTS; i++)
        if (memory->objects[i].bytes.len > 0 && strcmp(memory->objects[i].name, name) == 0)
            return &memory->objects[i];
    return NULL;
}

int chunk_world_objects(const struct memory_store *memory)
{
    int count = 0;

    for (int i = 0; i < CHUNK_WORLD_OBJECTS; i++)
        count += memory->objects[i].bytes.len > 0;
    return count;
}

/* Whether this call is one of the next `*calls`, which do something else than others. */
static bool is_told(int *calls)
{
    if (*calls == 0)
        return false;
    (*calls)--;
    return true;
}

/* Call it once, without the mutex: it may call the store. */
static void call_once(struct memory_store *memory, void (**function)(void))
{
    void (*once)(void) = *function;

    *function = NULL;
    pthread_mutex_unlock(&memory->mutex);
    if (once)
        once();
    pthread_mutex_lock(&memory->mutex);
}

static void store_object(struct memory_store *memory, const char *name, struct str bytes)
{
    int slot = 0;

    ck_assert_msg(!find_object(memory, name), "a name is used twice");
    while (memory->objects[slot].bytes.len > 0)
        ck_assert_int_lt(++slot, CHUNK_WORLD_OBJECTS);
    snprintf(memory->objects[slot].name, sizeof(memory->objects[slot].name), "%s", name);
    memory->objects[slot].bytes = arena_copy(&memory->arena, bytes);
    memory->puts++;
}

static enum status put_object(struct chunk_store *store, const char *name, struct str bytes,
    const struct chunk_wait *wait, struct error *err)
{
    struct memory_store *memory = (struct memory_store *)store;
    enum status status = STATUS_OK;

    pthread_mutex_lock(&memory->mutex);
    memory->put_until_us = wait->until_us;
    if (is_told(&memory->failing_puts)) {
        status = error_set(err, STATUS_UNAVAILABLE, "no space left on /secret/path");
    } else {
        store_object(memory, name, bytes);
        call_once(memory, &memory->on_put);
    }
    pthread_mutex_unlock(&memory->mutex);
    return status;
}

static enum status read_object(
    struct memory_store *memory, const char *name, struct arena *arena, struct str *out, struct error *err)
{
    const struct memory_object *object = find_object(memory, name);

    call_once(memory, &memory->on_get);
    if (is_told(&memory->failing_gets))
        return error_set(err, STATUS_UNAVAILABLE, "the host secret.example does not answer");
    if (!object)
        return error_set(err, STATUS_NOT_FOUND, "no object");
    *out = is_told(&memory->wrong_gets) ? STR_LITERAL("wrong") : arena_copy(arena, object->bytes);
    call_once(memory, &memory->after_get);
    return STATUS_OK;
}

static enum status get_object(struct chunk_store *store, const char *name, const struct chunk_wait *wait,
    struct arena *arena, struct str *out, struct error *err)
{
    struct memory_store *memory = (struct memory_store *)store;
    enum status status;

    (void)wait;
    pthread_mutex_lock(&memory->mutex);
    status = read_object(memory, name, arena, out, err);
    pthread_mutex_unlock(&memory->mutex);
    return status;
}

static enum status remove_object(
    struct chunk_store *store, const char *name, const struct chunk_wait *wait, struct error *err)
{
    struct memory_store *memory = (struct memory_store *)store;
    struct memory_object *object;
    enum status status = STATUS_OK;

    (void)wait;
    pthread_mutex_lock(&memory->mutex);
    object = find_object(memory, name);
    if (is_told(&memory->failing_removals))
        status = error_set(err, STATUS_UNAVAILABLE, "the store does not answer");
    else if (object)
        object->bytes = STR_EMPTY;
    pthread_mutex_unlock(&memory->mutex);
    return status;
}

static const struct chunk_store_calls memory_calls = {
    .put = put_object, .get = get_object, .remove = remove_object
};

static void open_store(struct memory_store *memory)
{
    *memory = (struct memory_store){ .store = { &memory_calls }, .mutex = PTHREAD_MUTEX_INITIALIZER };
    arena_init(&memory->arena);
    for (int i = 0; i < CHUNK_WORLD_OBJECTS; i++)
        memory->objects[i].bytes = STR_EMPTY;
}

/* ---- the world ---- */

void chunk_world_open(struct chunk_world *at)
{
    struct error err = { 0 };

    world_open(&at->world);
    open_store(&at->directory);
    open_store(&at->s3);
    at->chunks = (struct chunk_stores){ .put_into = CHUNK_STORE_DIRECTORY,
        .of[CHUNK_STORE_DIRECTORY] = &at->directory.store };
    at->world.writer.chunks = &at->chunks;
    worker_use_chunks(at->world.worker, &at->chunks);
    ck_assert_int_eq(session_ensure(&at->world.writer, &err), STATUS_OK);
}

void chunk_world_close(struct chunk_world *at)
{
    world_close(&at->world);
    arena_cleanup(&at->directory.arena);
    arena_cleanup(&at->s3.arena);
}

struct str chunk_world_bytes(struct chunk_world *at, char byte)
{
    char *bytes = arena_alloc(&at->world.arena, CHUNK_WORLD_CHUNK);

    memset(bytes, byte, CHUNK_WORLD_CHUNK);
    return str_of_bytes(bytes, CHUNK_WORLD_CHUNK);
}

/* ---- calls ---- */

static struct operation *make_call(struct chunk_world *at, enum operation_kind kind, uint8_t number)
{
    struct operation *operation = call_make(&at->world.arena, kind, "");

    operation->in.blob.name = STR_LITERAL("b");
    operation->in.blob.content = (struct blob_id){ { number } };
    operation->in.blob.writer = number;
    return operation;
}

void chunk_world_begin(struct chunk_world *at, uint8_t number)
{
    struct operation *begin = make_call(at, OPERATION_BLOB_BEGIN, number);

    blob_put_begin(&at->world.writer, begin);
    call_succeeded(begin);
}

struct operation *chunk_world_append(struct chunk_world *at, uint8_t number, char byte)
{
    struct operation *append = make_call(at, OPERATION_BLOB_APPEND, number);

    append->in.blob.bytes = chunk_world_bytes(at, byte);
    blob_put_append(&at->world.writer, append);
    return append;
}

struct operation *chunk_world_commit(struct chunk_world *at, uint8_t number)
{
    struct operation *commit = make_call(at, OPERATION_BLOB_COMMIT, number);

    commit->in.blob.offset = CHUNK_WORLD_CHUNK;
    blob_put_commit(&at->world.writer, commit);
    return commit;
}

void chunk_world_put(struct chunk_world *at, uint8_t number, char byte)
{
    chunk_world_begin(at, number);
    call_succeeded(chunk_world_append(at, number, byte));
    call_succeeded(chunk_world_commit(at, number));
}

void chunk_world_delete(struct chunk_world *at)
{
    struct operation *delete = make_call(at, OPERATION_BLOB_DELETE, 0);

    blob_calls_delete(&at->world.writer, delete);
    call_succeeded(delete);
}

struct operation *chunk_world_read(struct chunk_world *at, uint8_t number)
{
    struct operation *read = make_call(at, OPERATION_BLOB_READ, number);

    blob_read_chunk(&at->world.writer, read);
    return read;
}

long long chunk_world_rows(struct chunk_world *at, const char *table)
{
    return test_number(at->world.sql, "select count(*) from %s", table);
}

/* ---- the collector ---- */

void chunk_world_collect(struct chunk_world *at, int64_t kept_s)
{
    struct blob_counts counts = { 0 };
    struct error err = { 0 };
    bool more = false;

    test_sql(at->world.sql, "update blob_contents set kept_until = now() where state <> 2");
    ck_assert_msg(
        blob_collect_round(at->world.worker, kept_s, &counts, &more, &err) == STATUS_OK, "%s", err.message);
}

static bool never(const void *context)
{
    (void)context;
    return false;
}

struct stray_round chunk_world_remove_strays(struct chunk_world *at)
{
    struct stray_round round = { .is_stopping = never };
    struct error err = { 0 };

    ck_assert_msg(stray_remove_round(at->world.worker, &round, &err) == STATUS_OK, "%s", err.message);
    return round;
}

void chunk_world_end_waits(struct chunk_world *at)
{
    test_sql(at->world.sql, "update blob_strays set due = now()");
}

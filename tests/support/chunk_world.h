/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_world.h - the world of worker_world.h with stores of chunks of blobs outside of the database, which are in
 * memory and do what a test tells them. Functions fail the test if a step that must succeed does not.
 */
#ifndef TESTS_SUPPORT_CHUNK_WORLD_H
#define TESTS_SUPPORT_CHUNK_WORLD_H

#include <pthread.h>

#include "base/chunk_store.h"
#include "domain/limits.h"
#include "store/blobs/stray_remove.h"
#include "tests/support/calls.h"
#include "tests/support/worker_world.h"

enum { CHUNK_WORLD_CHUNK = LIMIT_BLOB_CHUNK_BYTES, CHUNK_WORLD_OBJECTS = 48 };

struct memory_object {
    char name[200];
    struct str bytes; /* none: there is no such object */
};

struct memory_store {
    struct chunk_store store; /* the first member */
    pthread_mutex_t mutex;    /* of all that follows */
    struct arena arena;
    struct memory_object objects[CHUNK_WORLD_OBJECTS];
    int puts, wrong_gets, failing_puts, failing_gets, failing_removals; /* the next so many calls */
    int64_t put_until_us;                                               /* of the last put */
    void (*on_put)(void);
    void (*on_get)(void);
    void (*after_get)(void); /* when the bytes have been read */
};

struct chunk_world {
    struct world world;
    struct memory_store directory, s3;
    struct chunk_stores
        chunks; /* of the writer and the worker; at first the directory alone, where puts go */
};

void chunk_world_open(struct chunk_world *at);
void chunk_world_close(struct chunk_world *at);

int chunk_world_objects(const struct memory_store *store);

/* A chunk of equal bytes, in the arena of the world. */
struct str chunk_world_bytes(struct chunk_world *at, char byte);

/* A put of the blob "b" by its parts: the number is the content's id and its writer. */
void chunk_world_begin(struct chunk_world *at, uint8_t number);
struct operation *chunk_world_append(struct chunk_world *at, uint8_t number, char byte);
struct operation *chunk_world_commit(struct chunk_world *at, uint8_t number);
void chunk_world_put(struct chunk_world *at, uint8_t number, char byte);
void chunk_world_delete(struct chunk_world *at);
struct operation *chunk_world_read(struct chunk_world *at, uint8_t number);

long long chunk_world_rows(struct chunk_world *at, const char *table);

/* Let the waits of contents end, and run the collector, which keeps the bytes of chunks for some seconds. */
void chunk_world_collect(struct chunk_world *at, int64_t kept_s);

struct stray_round chunk_world_remove_strays(struct chunk_world *at);
void chunk_world_end_waits(struct chunk_world *at); /* of strays */

#endif

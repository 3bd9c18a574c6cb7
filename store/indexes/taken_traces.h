/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taken_traces.h - the traces of the intents that a reconcile has removed, with what became of
 * their keys' entries: what a worker needs to tell its part of each trace.
 */
#ifndef STORE_INDEXES_TAKEN_TRACES_H
#define STORE_INDEXES_TAKEN_TRACES_H

#include "base/arena.h"
#include "domain/tracing/trace_context.h"
#include "store/session/session.h"

/* Of one piece of work; intents beyond them end their traces. */
enum { MAX_TAKEN_TRACES = 64, MAX_TAKEN_OF_A_TRACE = 8 };

/* What one index got of a key. */
struct traced_index {
    struct str name;
    int32_t written, deleted; /* entries */
};

struct taken_trace {
    struct trace_context context; /* its span is the parent of what follows */
    int64_t intent_us;            /* when the write made its intent, by the database's clock */
    size_t key;                   /* position of the source key in its transaction */
    struct traced_index *indexes; /* those whose entries have changed */
    size_t index_count;
};

struct taken_traces {
    struct arena *arena; /* of names and indexes */
    struct taken_trace items[MAX_TAKEN_TRACES];
    size_t count;
};

struct source_keys;

/* Add the traces that the rows of intent_take_traced.sql name. */
void taken_traces_add(struct taken_traces *traces, const PGresult *intents);

/* Fill the indexes of the traces from `first`, once the keys are planned. */
void taken_traces_fill(struct taken_traces *traces, size_t first, const struct source_keys *keys);

#endif

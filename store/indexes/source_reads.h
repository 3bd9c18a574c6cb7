/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_reads.h - how a reconcile begins: it locks the state rows of its source keys, takes the open intents of the
 * keys, then reads their dead letters and their sources.
 *
 * The statements are in the order of guard G9: each source is read after the intents of its key were taken.
 *
 * A row is found by its ctid if the message has told it, else by its key. Of a key whose intent is found by ctid only
 * that intent is taken: others have messages of their own, or the relay finds them. What is not found by ctid is
 * searched for by key in a second flight (guard G76). If traces are wanted, all intents are searched for by key.
 */
#ifndef STORE_INDEXES_SOURCE_READS_H
#define STORE_INDEXES_SOURCE_READS_H

#include "store/indexes/source_keys.h"

struct taken_traces;

enum source_read { SOURCE_READ_BY_CTID, SOURCE_READ_BY_KEY, SOURCE_READ_AGAIN, SOURCE_READ_COUNT };

struct source_reads {
    PGresult *dead_letters;
    PGresult *sources[SOURCE_READ_COUNT]; /* the properties of the sources are borrowed from them */
    bool is_whole; /* false: a source was too large, and its properties were left out */
    int64_t intents_taken;
};

/*
 * Begin a transaction as source_keys_begin does, with its errors, and fill is_open, is_read and source of the keys too.
 * max_bytes: of the properties of each source. traces: those of the taken intents are added; NULL: they are not wanted.
 * The caller clears *out, also after a failure.
 */
MUST_USE enum status source_reads_run(struct session *session, struct source_keys *keys, int32_t max_bytes,
    struct taken_traces *traces, struct source_reads *out, struct error *err);
void source_reads_clear(struct source_reads *reads);
#define SOURCE_READS_SCOPE __attribute__((cleanup(source_reads_clear))) struct source_reads

/* Columns of source_get.sql and source_get_at.sql. */
enum source_column { SOURCE_N, SOURCE_VERSION, SOURCE_TS, SOURCE_DEAD, SOURCE_EXPIRES, SOURCE_PROPERTIES };

/* Send the statement that reads the sources of all keys by key. */
MUST_USE enum status source_reads_send_by_key(
    struct session *session, const struct source_keys *keys, int32_t max_bytes, struct error *err);

/* Take the answer. false: see is_whole. */
bool source_reads_fill(struct source_keys *keys, const PGresult *sources, struct arena *arena);

#endif

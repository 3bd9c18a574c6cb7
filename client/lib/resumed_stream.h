/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resumed_stream.h - a stream of replies that is opened again where it was interrupted; used by scans and
 * watches.
 */
#ifndef CLIENT_LIB_RESUMED_STREAM_H
#define CLIENT_LIB_RESUMED_STREAM_H

#include "client/lib/session.h"

/* Write the request of the next attempt, which begins at the token of the last message. */
typedef void resumed_stream_encode_fn(void *context, struct buf *request);

struct resumed_stream {
    struct tavola *client;
    const char *path;
    resumed_stream_encode_fn *encode;
    void *context;
    bool never_gives_up; /* after the first message, the stream is opened again however long that takes */
    bool is_whole;       /* after the first message, the stream is not opened again: it cannot be resumed */

    bool has_received; /* this and the members below are used by this module only */
    int failures;      /* failures since the last message */
    bool has_renewed;
    uint64_t token;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t stopped;
    bool is_stopping;
    struct rpc_stream *stream; /* NULL: not open */
};

/* Initialize. The caller has set the first six members. */
void resumed_stream_init(struct resumed_stream *stream);
void resumed_stream_cleanup(struct resumed_stream *stream);

/*
 * Receive the next message, in the arena.
 *
 * false: the service has ended the stream (TAVOLA_OK), resumed_stream_stop was called (TAVOLA_CANCELLED), or the
 *        stream cannot continue
 */
bool resumed_stream_next(
    struct resumed_stream *stream, struct arena *arena, struct str *message, struct tavola_error *error);

/* Stop the stream. Any thread may call it. */
void resumed_stream_stop(struct resumed_stream *stream);

#endif

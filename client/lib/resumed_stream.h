/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resumed_stream.h - a stream of replies that is opened again where it broke off: scans and watches.
 */
#ifndef CLIENT_LIB_RESUMED_STREAM_H
#define CLIENT_LIB_RESUMED_STREAM_H

#include "client/lib/session.h"

/* Write the request of the next attempt: from the token of the last message on. */
typedef void resumed_stream_encode_fn(void *context, struct buf *request);

struct resumed_stream {
    struct tavola *client;
    const char *path;
    resumed_stream_encode_fn *encode;
    void *context;
    bool never_gives_up; /* once a message has come, a break is mended however long it takes */

    bool has_received; /* what follows is the stream's own */
    int failures;      /* since the last message */
    bool has_renewed;
    uint64_t token;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t stopped;
    bool is_stopping;
    struct rpc_stream *stream; /* NULL: not open */
};

/* The first five members are set. */
void resumed_stream_init(struct resumed_stream *stream);
void resumed_stream_cleanup(struct resumed_stream *stream);

/*
 * The next message, in the arena. false: the service has ended the stream (TAVOLA_OK), resumed_stream_stop was called
 * (TAVOLA_CANCELLED), or the stream cannot go on.
 */
bool resumed_stream_next(
    struct resumed_stream *stream, struct arena *arena, struct str *message, struct tavola_error *error);

/* From any thread. */
void resumed_stream_stop(struct resumed_stream *stream);

#endif

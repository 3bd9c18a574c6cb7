/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - what the parts of bench_load share: the load, its requests (load_requests.c) and its calls (load_calls.c).
 * The program and its options are in load.c.
 */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <grpc/grpc.h>
#include <pthread.h>

#include "bench/common.h"

enum { ETAG_BYTES = 64 };

struct request {
    struct frame frame;
    bool under_way; /* with if-match: its ETag is not known yet */
    size_t etag_size;
    uint8_t etag[ETAG_BYTES];
};

/* The options of the command line; see load.c. */
struct load_options {
    const char *target, *method, *file;
    int in_flight;
    double seconds;
    bool once, if_match, request_id, stream, drain, lenient, hold;
    int connections;
    double rate;     /* calls per second; 0: a closed loop */
    int deadline_ms; /* milliseconds a call may take; 0: any */
    const char *authority_file, *keep_file;
};

struct channel {
    grpc_channel *core;
    void *method;
};

enum event { EVENT_REPLY, EVENT_STATUS, EVENT_COUNT };

struct load;

struct call {
    struct load *load;
    struct channel *channel;
    struct call *next_free; /* open loop */
    grpc_call *core;
    struct request *request;
    int64_t due_ns; /* when the call was sent, or should have been */
    bool failed;
    int batches; /* under way; of streams of replies */
    grpc_byte_buffer *reply;
    grpc_metadata_array initial, trailing;
    grpc_status_code status;
    grpc_slice details;
    struct tag {
        struct call *call;
        enum event event;
    } tags[EVENT_COUNT];
};

struct load {
    const struct load_options *options;
    struct channel *channels;
    grpc_completion_queue *queue;
    grpc_metadata *headers;
    size_t header_count;
    struct request *requests;
    size_t request_count, next;
    uint64_t ids; /* used as request_id */
    int64_t end_ns;
    struct call *calls;

    pthread_mutex_t lock; /* open loop: of the fields between here and `tally` */
    pthread_cond_t freed;
    struct call *free;
    bool pacing;

    int open;
    struct tally tally;
    bool complained;
};

/* ---- load_requests.c ---- */

void load_requests_read(struct load *load);
/* The next request; NULL: no request is left, or the time is over. */
struct request *load_requests_next(struct load *load);
/* The request with the additions of its options. The caller destroys it. */
grpc_byte_buffer *load_requests_message(struct load *load, const struct request *request);
/* Keep the part of this reply that the options need. */
void load_requests_learn(struct load *load, struct request *request, grpc_byte_buffer *reply);

/* ---- load_calls.c ---- */

void load_calls_connect(struct load *load);
/* Run until the time or the requests are over and every call has ended. */
void load_calls_run(struct load *load);

#endif

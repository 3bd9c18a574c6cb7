/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echo_server.c - the ceiling of a unary call: the bare C core, a completion queue, and a reply of a given
 * size, whatever was asked. It takes what a real server needs (the request as one buffer, the end of the call
 * with its cancellation) in the two events per call that the core makes possible, and nothing else.
 *
 *   bench_echo_server THREADS REPLY_BYTES      prints "listening on 127.0.0.1:PORT"; SIGTERM ends it
 */
#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define METHOD "/bench.Echo/Echo"

enum { ARMED_CALLS = 128, THREADS_MAX = 64 };

struct echo {
    grpc_server *server;
    grpc_completion_queue *queue;
    void *method;
    grpc_slice reply;
};

/* Reused for the next call when its own is over. */
struct call {
    grpc_call *core;
    grpc_byte_buffer *request;
    grpc_metadata_array metadata;
    gpr_timespec deadline;
    int cancelled;
    bool arrived;
};

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "bench_echo_server: %s\n", what);
    exit(1);
}

static void arm(struct echo *echo, struct call *call)
{
    grpc_call_error refused;

    call->arrived = false;
    refused = grpc_server_request_registered_call(echo->server, echo->method, &call->core, &call->deadline,
        &call->metadata, &call->request, echo->queue, echo->queue, call);
    require(refused == GRPC_CALL_OK, "cannot ask for a call");
}

static void answer(const struct echo *echo, struct call *call)
{
    grpc_slice slice = grpc_slice_ref(echo->reply);
    grpc_byte_buffer *reply = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_op ops[4] = {
        { .op = GRPC_OP_RECV_CLOSE_ON_SERVER, .data.recv_close_on_server.cancelled = &call->cancelled },
        { .op = GRPC_OP_SEND_INITIAL_METADATA },
        { .op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = reply },
        { .op = GRPC_OP_SEND_STATUS_FROM_SERVER },
    };

    call->arrived = true;
    require(grpc_call_start_batch(call->core, ops, 4, call, NULL) == GRPC_CALL_OK, "cannot answer");
    grpc_byte_buffer_destroy(reply);
    grpc_slice_unref(slice);
}

static void let_go(struct call *call)
{
    grpc_call_unref(call->core);
    grpc_byte_buffer_destroy(call->request);
    grpc_metadata_array_destroy(&call->metadata);
    grpc_metadata_array_init(&call->metadata);
}

static void *serve(void *argument)
{
    struct echo *echo = argument;

    for (;;) {
        grpc_event event = grpc_completion_queue_next(echo->queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
        struct call *call = event.tag;

        if (event.type != GRPC_OP_COMPLETE)
            continue;
        if (!call->arrived) {
            answer(echo, call);
        } else {
            let_go(call);
            arm(echo, call);
        }
    }
    return NULL;
}

static int listen_anywhere(struct echo *echo)
{
    grpc_server_credentials *plain = grpc_insecure_server_credentials_create();
    int port;

    echo->server = grpc_server_create(NULL, NULL);
    echo->queue = grpc_completion_queue_create_for_next(NULL);
    grpc_server_register_completion_queue(echo->server, echo->queue, NULL);
    echo->method =
        grpc_server_register_method(echo->server, METHOD, NULL, GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
    port = grpc_server_add_http2_port(echo->server, "127.0.0.1:0", plain);
    grpc_server_credentials_release(plain);
    require(port > 0, "cannot listen");
    grpc_server_start(echo->server);
    return port;
}

int main(int argc, char **argv)
{
    int threads = argc == 3 ? (int)strtol(argv[1], NULL, 10) : 0;
    size_t reply_bytes = argc == 3 ? (size_t)strtol(argv[2], NULL, 10) : 0;
    pthread_t ids[THREADS_MAX];
    struct echo echo;
    int port;

    require(threads > 0 && threads <= THREADS_MAX && reply_bytes > 0, "needs THREADS REPLY_BYTES");
    grpc_init();
    echo.reply = grpc_slice_malloc(reply_bytes);
    memset(GRPC_SLICE_START_PTR(echo.reply), 'x', reply_bytes);
    port = listen_anywhere(&echo);
    for (int i = 0; i < ARMED_CALLS; i++) {
        struct call *call = calloc(1, sizeof(*call));

        require(call != NULL, "out of memory");
        grpc_metadata_array_init(&call->metadata);
        arm(&echo, call);
    }
    printf("listening on 127.0.0.1:%d\n", port);
    fflush(stdout);
    for (int i = 0; i < threads; i++)
        require(pthread_create(&ids[i], NULL, serve, &echo) == 0, "cannot start a thread");
    pthread_join(ids[0], NULL);
    return 0;
}

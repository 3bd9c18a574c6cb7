/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_calls.c - the calls of a load: closed loops, streams, and an open loop with a pacer.
 *
 * In a closed loop a slot starts its next call when its last one has ended. In an open loop a thread of its own,
 * the pacer, starts calls when they are due, whatever became of those before; latency counts from the moment
 * a call was due, so that a server that stalls is charged for those that had to wait for it. A thread, because
 * the core's own timers count in milliseconds.
 */
#include <grpc/byte_buffer.h>
#include <grpc/grpc_security.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "bench/load.h"

enum { CONNECT_SECONDS = 30, POLL_MS = 50 };

/* ---- connecting ---- */

static grpc_channel_credentials *credentials_of(const struct load_options *options)
{
    static char pem[65536];
    grpc_channel_credentials *credentials;
    FILE *file;
    size_t size;

    if (!options->authority_file)
        return grpc_insecure_credentials_create();
    file = fopen(options->authority_file, "r");
    require(file != NULL, "cannot read the authority's certificate");
    size = fread(pem, 1, sizeof(pem) - 1, file);
    pem[size] = '\0';
    fclose(file);
    credentials = grpc_ssl_credentials_create(pem, NULL, NULL, NULL);
    require(credentials != NULL, "the authority's certificate is none");
    return credentials;
}

static void await_ready(struct load *load, grpc_channel *channel)
{
    gpr_timespec end =
        gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_seconds(CONNECT_SECONDS, GPR_TIMESPAN));
    grpc_connectivity_state state;

    while ((state = grpc_channel_check_connectivity_state(channel, 1)) != GRPC_CHANNEL_READY) {
        grpc_channel_watch_connectivity_state(channel, state, end, load->queue, load);
        require(grpc_completion_queue_next(load->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL).success,
            "cannot connect");
    }
}

void load_calls_connect(struct load *load)
{
    const struct load_options *options = load->options;
    grpc_arg args[] = {
        { .type = GRPC_ARG_INTEGER, .key = (char *)"grpc.enable_http_proxy", .value.integer = 0 },
        { .type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, .value.integer = -1 },
        /* Otherwise channels to one target would share a connection. */
        { .type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, .value.integer = 1 },
    };
    grpc_channel_args channel_args = { .num_args = 3, .args = args };
    grpc_channel_credentials *credentials = credentials_of(options);

    load->queue = grpc_completion_queue_create_for_next(NULL);
    load->channels = calloc((size_t)options->connections, sizeof(*load->channels));
    require(load->channels != NULL, "out of memory");
    for (int i = 0; i < options->connections; i++) {
        struct channel *channel = &load->channels[i];

        channel->core = grpc_channel_create(options->target, credentials, &channel_args);
        channel->method = grpc_channel_register_call(channel->core, options->method, NULL, NULL);
        grpc_channel_check_connectivity_state(channel->core, 1);
    }
    for (int i = 0; i < options->connections; i++)
        await_ready(load, load->channels[i].core);
    grpc_channel_credentials_release(credentials);
}

/* ---- what calls have in common ---- */

static bool take_reply(struct call *call)
{
    size_t size = call->reply ? grpc_byte_buffer_length(call->reply) : 0;

    if (size > 0)
        load_requests_learn(call->load, call->request, call->reply);
    if (call->reply)
        grpc_byte_buffer_destroy(call->reply);
    call->reply = NULL;
    call->load->tally.reply_bytes += size;
    return size > 0;
}

static void count_call(struct call *call, bool worked)
{
    tally_call(&call->load->tally, worked, now_ns() - call->due_ns);
    call->request->under_way = false;
}

static void report_failure(struct call *call)
{
    if (call->load->complained || call->status == GRPC_STATUS_OK)
        return;
    call->load->complained = true;
    fprintf(stderr, "bench_load: status %d: %.*s\n", (int)call->status, (int)GRPC_SLICE_LENGTH(call->details),
        (const char *)GRPC_SLICE_START_PTR(call->details));
}

static void start(struct call *call, const grpc_op *ops, size_t count, enum event event)
{
    call->tags[event] = (struct tag){ call, event };
    require(grpc_call_start_batch(call->core, ops, count, &call->tags[event], NULL) == GRPC_CALL_OK,
        "the core refuses a batch");
}

static grpc_op send_headers(const struct load *load)
{
    return (grpc_op){ .op = GRPC_OP_SEND_INITIAL_METADATA,
        .data.send_initial_metadata = { .count = load->header_count, .metadata = load->headers } };
}

static grpc_op receive_headers(struct call *call)
{
    return (grpc_op){ .op = GRPC_OP_RECV_INITIAL_METADATA,
        .data.recv_initial_metadata.recv_initial_metadata = &call->initial };
}

static grpc_op receive_message(struct call *call)
{
    return (grpc_op){ .op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &call->reply };
}

static grpc_op receive_status(struct call *call)
{
    return (grpc_op){ .op = GRPC_OP_RECV_STATUS_ON_CLIENT,
        .data.recv_status_on_client = { .trailing_metadata = &call->trailing,
            .status = &call->status,
            .status_details = &call->details } };
}

static void open_call(struct call *call)
{
    struct load *load = call->load;
    int deadline_ms = load->options->deadline_ms;
    gpr_timespec deadline = gpr_inf_future(GPR_CLOCK_REALTIME);

    if (deadline_ms > 0)
        deadline = gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(deadline_ms, GPR_TIMESPAN));
    grpc_metadata_array_init(&call->initial);
    grpc_metadata_array_init(&call->trailing);
    call->failed = false;
    call->core = grpc_channel_create_registered_call(call->channel->core, NULL, GRPC_PROPAGATE_DEFAULTS,
        load->queue, call->channel->method, deadline, NULL);
}

static void close_call(struct call *call)
{
    grpc_metadata_array_destroy(&call->initial);
    grpc_metadata_array_destroy(&call->trailing);
    grpc_slice_unref(call->details);
    grpc_call_unref(call->core);
}

/* ---- unary calls ---- */

/* The whole call in one batch. */
static void unary_send(struct call *call)
{
    grpc_byte_buffer *message = load_requests_message(call->load, call->request);
    grpc_op ops[6] = {
        send_headers(call->load),
        { .op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = message },
        { .op = GRPC_OP_SEND_CLOSE_FROM_CLIENT },
        receive_headers(call),
        receive_message(call),
        receive_status(call),
    };

    open_call(call);
    start(call, ops, 6, EVENT_STATUS);
    grpc_byte_buffer_destroy(message);
}

static void unary_next(struct call *call)
{
    call->request = load_requests_next(call->load);
    if (!call->request)
        return;
    call->due_ns = now_ns();
    call->load->open++;
    unary_send(call);
}

static void unary_end(struct call *call)
{
    bool worked = take_reply(call) && call->status == GRPC_STATUS_OK;

    report_failure(call);
    count_call(call, worked);
    close_call(call);
}

static void unary_event(struct call *call, enum event event)
{
    (void)event;
    unary_end(call);
    call->load->open--;
    if (!call->load->options->hold)
        unary_next(call);
}

/* ---- streams in both directions: a message out, a message in ---- */

static void stream_send(struct call *call, bool first)
{
    grpc_byte_buffer *message = NULL;
    grpc_op ops[4] = { 0 };
    size_t count = 0;

    call->request = load_requests_next(call->load);
    if (first) {
        ops[count++] = send_headers(call->load);
        ops[count++] = receive_headers(call);
    }
    if (!call->request) {
        ops[count++].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
    } else {
        message = load_requests_message(call->load, call->request);
        ops[count].op = GRPC_OP_SEND_MESSAGE;
        ops[count++].data.send_message.send_message = message;
        ops[count++] = receive_message(call);
    }
    call->due_ns = now_ns();
    start(call, ops, count, EVENT_REPLY);
    if (message)
        grpc_byte_buffer_destroy(message);
}

static void stream_next(struct call *call)
{
    grpc_op status;

    open_call(call);
    call->load->open++;
    status = receive_status(call);
    start(call, &status, 1, EVENT_STATUS);
    stream_send(call, true);
}

/* How a stream ended. */
static void stream_end(struct call *call)
{
    report_failure(call);
    call->load->tally.failed += call->status != GRPC_STATUS_OK;
    close_call(call);
    call->load->open--;
}

static void stream_event(struct call *call, enum event event)
{
    if (event == EVENT_STATUS) {
        stream_end(call);
    } else if (call->request && !call->failed) {
        bool worked = take_reply(call);

        count_call(call, worked);
        call->failed = !worked;
        if (worked && !call->load->options->hold)
            stream_send(call, false);
    }
}

/* ---- streams of replies to one request ---- */

static void drain_receive(struct call *call)
{
    grpc_op op = receive_message(call);

    call->due_ns = now_ns();
    start(call, &op, 1, EVENT_REPLY);
}

static void drain_next(struct call *call)
{
    grpc_byte_buffer *message;
    grpc_op status;

    call->request = load_requests_next(call->load);
    if (!call->request)
        return;
    open_call(call);
    call->load->open++;
    status = receive_status(call);
    start(call, &status, 1, EVENT_STATUS);
    message = load_requests_message(call->load, call->request);
    grpc_op ops[] = {
        send_headers(call->load),
        { .op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = message },
        { .op = GRPC_OP_SEND_CLOSE_FROM_CLIENT },
        receive_headers(call),
        receive_message(call),
    };
    call->due_ns = now_ns();
    call->batches = 2;
    start(call, ops, sizeof(ops) / sizeof(ops[0]), EVENT_REPLY);
    grpc_byte_buffer_destroy(message);
}

static void drain_event(struct call *call, enum event event)
{
    if (event == EVENT_REPLY && call->reply) {
        count_call(call, take_reply(call));
        drain_receive(call);
    } else if (--call->batches == 0) {
        stream_end(call);
        drain_next(call);
    }
}

/* ---- a closed loop ---- */

static const struct shape {
    void (*next)(struct call *call);
    void (*event)(struct call *call, enum event event);
} unary = { unary_next, unary_event }, stream = { stream_next, stream_event },
  drain = { drain_next, drain_event };

/* Every call has had a reply: print "holding", wait until the time is over, and let streams end. */
static void hold_calls(struct load *load)
{
    printf("holding\n");
    fflush(stdout);
    while (now_ns() < load->end_ns)
        nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000L }, NULL);
    for (int i = 0; load->options->stream && i < load->options->in_flight; i++)
        stream_send(&load->calls[i], false);
}

static void run_closed(struct load *load, const struct shape *shape)
{
    uint64_t in_flight = (uint64_t)load->options->in_flight;
    bool held = !load->options->hold;

    for (uint64_t i = 0; i < in_flight; i++)
        shape->next(&load->calls[i]);
    while (load->open > 0 || !held) {
        grpc_event event;
        struct tag *tag;

        if (!held && load->tally.done == in_flight) {
            held = true;
            hold_calls(load);
            continue;
        }
        event = grpc_completion_queue_next(load->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
        tag = event.tag;
        shape->event(tag->call, tag->event);
    }
}

/* ---- an open loop ---- */

/* Take a free call; waits for one. */
static struct call *take_free(struct load *load)
{
    struct call *call;

    pthread_mutex_lock(&load->lock);
    while (!load->free)
        pthread_cond_wait(&load->freed, &load->lock);
    call = load->free;
    load->free = call->next_free;
    load->open++;
    pthread_mutex_unlock(&load->lock);
    return call;
}

static void give_back(struct load *load, struct call *call)
{
    pthread_mutex_lock(&load->lock);
    call->next_free = load->free;
    load->free = call;
    load->open--;
    pthread_cond_signal(&load->freed);
    pthread_mutex_unlock(&load->lock);
}

static void sleep_until(int64_t ns)
{
    struct timespec moment = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL) != 0)
        continue;
}

/*
 * Start calls at equal intervals. If a call starts late, the delay counts as part of its duration; not if
 * calls may fail, since then more calls are due than this client can send, and the delay is not the server's.
 */
static void *pace(void *argument)
{
    struct load *load = argument;

    prctl(PR_SET_TIMERSLACK, 1UL);
    for (uint64_t i = 0;; i++) {
        int64_t due_ns = load->tally.begin_ns + (int64_t)((double)i * 1e9 / load->options->rate);
        struct request *request;
        struct call *call;

        if (due_ns >= load->end_ns)
            break;
        if (due_ns > now_ns())
            sleep_until(due_ns);
        request = load_requests_next(load);
        if (!request)
            break;
        call = take_free(load);
        call->request = request;
        call->due_ns = load->options->lenient ? now_ns() : due_ns;
        unary_send(call);
    }
    pthread_mutex_lock(&load->lock);
    load->pacing = false;
    pthread_mutex_unlock(&load->lock);
    return NULL;
}

static bool is_going_on(struct load *load)
{
    bool going;

    pthread_mutex_lock(&load->lock);
    going = load->pacing || load->open > 0;
    pthread_mutex_unlock(&load->lock);
    return going;
}

static void run_open(struct load *load)
{
    pthread_t pacer;

    for (int i = 0; i < load->options->in_flight; i++) {
        load->calls[i].next_free = load->free;
        load->free = &load->calls[i];
    }
    load->pacing = true;
    require(pthread_create(&pacer, NULL, pace, load) == 0, "cannot start a thread");
    while (is_going_on(load)) {
        gpr_timespec soon =
            gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(POLL_MS, GPR_TIMESPAN));
        grpc_event event = grpc_completion_queue_next(load->queue, soon, NULL);
        struct tag *tag = event.tag;

        if (event.type != GRPC_OP_COMPLETE)
            continue;
        unary_end(tag->call);
        give_back(load, tag->call);
    }
    pthread_join(pacer, NULL);
}

void load_calls_run(struct load *load)
{
    const struct load_options *options = load->options;

    load->calls = calloc((size_t)options->in_flight, sizeof(*load->calls));
    require(load->calls != NULL, "out of memory");
    for (int i = 0; i < options->in_flight; i++) {
        load->calls[i].load = load;
        load->calls[i].channel = &load->channels[i % options->connections];
    }
    if (options->rate > 0)
        run_open(load);
    else
        run_closed(load, options->stream ? &stream : options->drain ? &drain : &unary);
}

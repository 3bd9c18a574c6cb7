/*
 * load.c - a load of many calls at once over one channel, with the bare C core.
 *
 *   bench_load TARGET METHOD FILE IN_FLIGHT SECONDS [once] [if-match] [stream]
 *
 * FILE holds the requests as they travel: a byte 0, four bytes of length (big-endian), the message; again and
 * again. They are sent in this order, from the beginning again at the end of the file. What keys a load has -
 * uniform, Zipf, one hot key - is thus the file's business. The requests have to be open: nothing is added.
 *
 *   once      every request once; ends with the last, or with the time
 *   if-match  every request gets a precondition: the ETag of the reply to the same request before, `*` at first
 *   stream    IN_FLIGHT bidirectional streams, each with one message under way
 *
 * Prints one line: calls failed seconds p50_us p99_us cpu_us reply_bytes. cpu_us is this client's own per call;
 * a call failed unless its status is OK and its reply has bytes. Latencies are those of a closed loop.
 */
#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { FRAME_BYTES = 5, ETAG_BYTES = 64, CALLS_MAX = 4096, SAMPLES_MAX = 4000000 };

/* Bytes of an if_match of `size`: field 4 (precondition) of a request, with field 1 in it. */
enum { TAG_PRECONDITION = 0x22, TAG_IF_MATCH = 0x0a, PRECONDITION_BYTES = 4 };

struct request {
    const uint8_t *bytes;
    size_t size;
    bool under_way; /* with if-match: its ETag is not known */
    size_t etag_size;
    uint8_t etag[ETAG_BYTES];
};

enum event { EVENT_REPLY, EVENT_STATUS, EVENT_COUNT };

struct load;

struct call {
    struct load *load;
    grpc_call *core;
    struct request *request;
    int64_t sent_ns;
    bool failed;
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
    grpc_channel *channel;
    grpc_completion_queue *queue;
    void *method;
    struct request *requests;
    size_t request_count, next;
    bool once, if_match, stream;
    int64_t end_ns;
    int open;
    uint64_t calls, failed, reply_bytes;
    uint32_t *samples_us;
    bool complained;
};

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "bench_load: %s\n", what);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* ---- requests ---- */

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;
    long length = 0;

    require(file && fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0, "cannot read the requests");
    rewind(file);
    bytes = malloc((size_t)length);
    require(bytes && fread(bytes, 1, (size_t)length, file) == (size_t)length, "cannot read the requests");
    fclose(file);
    *size = (size_t)length;
    return bytes;
}

static void read_requests(struct load *load, const char *path)
{
    size_t size, room = 0;
    const uint8_t *bytes = read_file(path, &size);

    for (size_t at = 0; at + FRAME_BYTES <= size;) {
        const uint8_t *frame = bytes + at;
        size_t length = (size_t)frame[1] << 24 | (size_t)frame[2] << 16 | (size_t)frame[3] << 8 | frame[4];

        require(length <= size - at - FRAME_BYTES, "the last request is cut short");
        if (load->request_count == room) {
            room = room ? room * 2 : 1024;
            load->requests = realloc(load->requests, room * sizeof(*load->requests));
            require(load->requests != NULL, "out of memory");
        }
        load->requests[load->request_count++] =
            (struct request){ .bytes = frame + FRAME_BYTES, .size = length, .etag_size = 1, .etag = "*" };
        at += FRAME_BYTES + length;
    }
    require(load->request_count > 0, "there are no requests");
}

/* The next request; NULL: there is none, or no time. */
static struct request *next_request(struct load *load)
{
    struct request *request;

    if (now_ns() >= load->end_ns)
        return NULL;
    do {
        if (load->next == load->request_count) {
            if (load->once)
                return NULL;
            load->next = 0;
        }
        request = &load->requests[load->next++];
    } while (load->if_match && request->under_way);
    request->under_way = true;
    return request;
}

static grpc_byte_buffer *message_of(const struct load *load, const struct request *request)
{
    size_t more = load->if_match ? PRECONDITION_BYTES + request->etag_size : 0;
    grpc_slice slice = grpc_slice_malloc(request->size + more);
    uint8_t *to = GRPC_SLICE_START_PTR(slice);
    grpc_byte_buffer *buffer;

    memcpy(to, request->bytes, request->size);
    if (load->if_match) {
        to += request->size;
        *to++ = TAG_PRECONDITION;
        *to++ = (uint8_t)(request->etag_size + 2);
        *to++ = TAG_IF_MATCH;
        *to++ = (uint8_t)request->etag_size;
        memcpy(to, request->etag, request->etag_size);
    }
    buffer = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    return buffer;
}

/* ---- replies ---- */

/* A reply to a write is { result: { etag: TEXT, ... } }, both in field 1. */
static void keep_etag(struct request *request, const uint8_t *reply, size_t size)
{
    require(size > 4 && reply[0] == 0x0a && reply[2] == 0x0a && reply[3] < ETAG_BYTES &&
                (size_t)reply[3] + 4 <= size,
        "a reply has no ETag");
    request->etag_size = reply[3];
    memcpy(request->etag, reply + 4, request->etag_size);
}

static bool take_reply(struct call *call)
{
    size_t size = call->reply ? grpc_byte_buffer_length(call->reply) : 0;

    if (size > 0 && call->load->if_match) {
        grpc_byte_buffer_reader reader;
        grpc_slice all;

        require(grpc_byte_buffer_reader_init(&reader, call->reply), "cannot read a reply");
        all = grpc_byte_buffer_reader_readall(&reader);
        keep_etag(call->request, GRPC_SLICE_START_PTR(all), size);
        grpc_slice_unref(all);
        grpc_byte_buffer_reader_destroy(&reader);
    }
    if (call->reply)
        grpc_byte_buffer_destroy(call->reply);
    call->reply = NULL;
    call->load->reply_bytes += size;
    return size > 0;
}

static void count_call(struct call *call, bool worked)
{
    struct load *load = call->load;
    int64_t took_us = (now_ns() - call->sent_ns) / 1000;

    if (load->calls < SAMPLES_MAX)
        load->samples_us[load->calls] = (uint32_t)took_us;
    load->calls++;
    load->failed += !worked;
    call->request->under_way = false;
}

static void complain(struct call *call)
{
    if (call->load->complained || call->status == GRPC_STATUS_OK)
        return;
    call->load->complained = true;
    fprintf(stderr, "bench_load: status %d: %.*s\n", (int)call->status, (int)GRPC_SLICE_LENGTH(call->details),
        (const char *)GRPC_SLICE_START_PTR(call->details));
}

/* ---- calls ---- */

static void start(struct call *call, const grpc_op *ops, size_t count, enum event event)
{
    call->tags[event] = (struct tag){ call, event };
    require(grpc_call_start_batch(call->core, ops, count, &call->tags[event], NULL) == GRPC_CALL_OK,
        "the core refuses a batch");
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

    grpc_metadata_array_init(&call->initial);
    grpc_metadata_array_init(&call->trailing);
    call->core = grpc_channel_create_registered_call(load->channel, NULL, GRPC_PROPAGATE_DEFAULTS,
        load->queue, load->method, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    load->open++;
}

static void close_call(struct call *call)
{
    grpc_metadata_array_destroy(&call->initial);
    grpc_metadata_array_destroy(&call->trailing);
    grpc_slice_unref(call->details);
    grpc_call_unref(call->core);
    call->load->open--;
}

/* The whole of a unary call in one batch. */
static bool call_unary(struct call *call)
{
    grpc_byte_buffer *message;

    call->request = next_request(call->load);
    if (!call->request)
        return false;
    open_call(call);
    message = message_of(call->load, call->request);
    grpc_op ops[6] = {
        { .op = GRPC_OP_SEND_INITIAL_METADATA },
        { .op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = message },
        { .op = GRPC_OP_SEND_CLOSE_FROM_CLIENT },
        { .op = GRPC_OP_RECV_INITIAL_METADATA,
            .data.recv_initial_metadata.recv_initial_metadata = &call->initial },
        { .op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &call->reply },
        receive_status(call),
    };
    call->sent_ns = now_ns();
    start(call, ops, 6, EVENT_STATUS);
    grpc_byte_buffer_destroy(message);
    return true;
}

static void unary_done(struct call *call)
{
    bool worked = take_reply(call) && call->status == GRPC_STATUS_OK;

    complain(call);
    count_call(call, worked);
    close_call(call);
    call_unary(call);
}

static void stream_send(struct call *call, bool first)
{
    grpc_byte_buffer *message = NULL;
    grpc_op ops[4] = { 0 };
    size_t count = 0;

    call->request = next_request(call->load);
    if (first) {
        ops[count++].op = GRPC_OP_SEND_INITIAL_METADATA;
        ops[count].op = GRPC_OP_RECV_INITIAL_METADATA;
        ops[count++].data.recv_initial_metadata.recv_initial_metadata = &call->initial;
    }
    if (!call->request) {
        ops[count++].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
    } else {
        message = message_of(call->load, call->request);
        ops[count].op = GRPC_OP_SEND_MESSAGE;
        ops[count++].data.send_message.send_message = message;
        ops[count].op = GRPC_OP_RECV_MESSAGE;
        ops[count++].data.recv_message.recv_message = &call->reply;
    }
    call->sent_ns = now_ns();
    start(call, ops, count, EVENT_REPLY);
    if (message)
        grpc_byte_buffer_destroy(message);
}

static void open_stream(struct call *call)
{
    grpc_op status;

    open_call(call);
    status = receive_status(call);
    start(call, &status, 1, EVENT_STATUS);
    stream_send(call, true);
}

static void stream_done(struct call *call, enum event event)
{
    if (event == EVENT_STATUS) {
        complain(call);
        call->load->failed += call->status != GRPC_STATUS_OK;
        close_call(call);
    } else if (call->request && !call->failed) {
        bool worked = take_reply(call);

        count_call(call, worked);
        call->failed = !worked;
        if (worked)
            stream_send(call, false);
    }
}

/* ---- the run ---- */

static void connect_to(struct load *load, const char *target, const char *method)
{
    grpc_arg no_proxy = {
        .type = GRPC_ARG_INTEGER, .key = (char *)"grpc.enable_http_proxy", .value.integer = 0
    };
    grpc_arg large = {
        .type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, .value.integer = -1
    };
    grpc_arg args[] = { no_proxy, large };
    grpc_channel_args channel_args = { .num_args = 2, .args = args };
    grpc_channel_credentials *plain = grpc_insecure_credentials_create();

    load->queue = grpc_completion_queue_create_for_next(NULL);
    load->channel = grpc_channel_create(target, plain, &channel_args);
    grpc_channel_credentials_release(plain);
    load->method = grpc_channel_register_call(load->channel, method, NULL, NULL);
    while (grpc_channel_check_connectivity_state(load->channel, 1) != GRPC_CHANNEL_READY) {
        grpc_channel_watch_connectivity_state(load->channel,
            grpc_channel_check_connectivity_state(load->channel, 1),
            gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_seconds(10, GPR_TIMESPAN)), load->queue,
            load);
        require(grpc_completion_queue_next(load->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL).success,
            "cannot connect");
    }
}

static void run(struct load *load, int in_flight)
{
    static struct call calls[CALLS_MAX];

    for (int i = 0; i < in_flight; i++) {
        calls[i].load = load;
        if (load->stream)
            open_stream(&calls[i]);
        else if (!call_unary(&calls[i]))
            break;
    }
    while (load->open > 0) {
        grpc_event event = grpc_completion_queue_next(load->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
        struct tag *tag = event.tag;

        if (load->stream)
            stream_done(tag->call, tag->event);
        else
            unary_done(tag->call);
    }
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void print_result(struct load *load, double seconds, double cpu)
{
    size_t count = load->calls < SAMPLES_MAX ? load->calls : SAMPLES_MAX;

    require(count > 0, "no call was made");
    qsort(load->samples_us, count, sizeof(*load->samples_us), by_value);
    printf("calls %llu failed %llu seconds %.4f p50_us %u p99_us %u cpu_us %.2f reply_bytes %.1f\n",
        (unsigned long long)load->calls, (unsigned long long)load->failed, seconds,
        load->samples_us[count / 2], load->samples_us[count - 1 - count / 100],
        cpu * 1e6 / (double)load->calls, (double)load->reply_bytes / (double)load->calls);
}

int main(int argc, char **argv)
{
    static struct load load; /* its calls are static too */
    int in_flight = argc > 5 ? (int)strtol(argv[4], NULL, 10) : 0;
    int64_t began_ns;
    double cpu;

    require(in_flight > 0 && in_flight <= CALLS_MAX,
        "needs TARGET METHOD FILE IN_FLIGHT SECONDS [once] [if-match] [stream]");
    for (int i = 6; i < argc; i++) {
        load.once |= strcmp(argv[i], "once") == 0;
        load.if_match |= strcmp(argv[i], "if-match") == 0;
        load.stream |= strcmp(argv[i], "stream") == 0;
    }
    load.samples_us = malloc(SAMPLES_MAX * sizeof(*load.samples_us));
    require(load.samples_us != NULL, "out of memory");
    read_requests(&load, argv[3]);
    require(
        !load.if_match || load.request_count > (size_t)in_flight, "if-match needs more requests than calls");
    grpc_init();
    connect_to(&load, argv[1], argv[2]);
    began_ns = now_ns();
    cpu = cpu_seconds();
    load.end_ns = began_ns + (int64_t)(strtod(argv[5], NULL) * 1e9);
    run(&load, in_flight);
    print_result(&load, (double)(now_ns() - began_ns) / 1e9, cpu_seconds() - cpu);
    return load.failed > 0;
}

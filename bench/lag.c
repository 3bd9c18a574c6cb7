/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lag.c - how long after its acknowledgement a write is visible in an index.
 *
 *   bench_lag TARGET SECONDS PROBES WRITE_FILE LOOKUP_FILE
 *
 * PROBES threads, each in turn: InsertOrReplaceEntity with a new value, then LookupIndex by that value (any
 * freshness) again and again until the key is in the reply, then a rest. The files hold one request each, in which
 * 99999999 stands for the number of the key or the value. A lag is the time from the reply to the write to the reply
 * that shows the key.
 *
 * The rest keeps the probes from being a load themselves: the calls of one lag, which share no batch with others,
 * take 2.5 ms of the processors.
 *
 * Prints one line: probes rate p50_us p99_us p999_us.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/common.h"
#include "rpc/channel.h"

#define METHOD_WRITE "/tavola.v1.EntityService/InsertOrReplaceEntity"
#define METHOD_LOOKUP "/tavola.v1.IndexService/LookupIndex"
#define PLACEHOLDER "99999999"

enum {
    PROBES_MAX = 16,
    REQUEST_BYTES = 4096,
    FRAME_BYTES = 5,
    SAMPLES_MAX = 100000,
    CALL_TIMEOUT_MS = 10000,
    POLL_NS = 200000,   /* between two look-ups at first, */
    POLL_SHARE = 16,    /* and later this part of the lag so far: probes must not be a load themselves */
    REST_NS = 20000000, /* between two lags of a probe */
    NUMBERS = 1000000,  /* of one probe */
    FIRST = 20000000,   /* a number that no other load uses */
};

struct template
{
    char bytes[REQUEST_BYTES];
    size_t size;
};

struct probe {
    pthread_t thread;
    int index;
    const char *target;
    struct template write, lookup;
    int64_t end_ns;
    uint32_t samples[SAMPLES_MAX];
    size_t count;
};

static struct template read_template(const char *path)
{
    struct template template = { .size = 0 };
    FILE *file = fopen(path, "rb");

    require(file && fseek(file, FRAME_BYTES, SEEK_SET) == 0, "cannot read a request");
    template.size = fread(template.bytes, 1, REQUEST_BYTES, file);
    fclose(file);
    require(template.size > 0 && template.size < REQUEST_BYTES, "a request is too long");
    return template;
}

/* The template with its placeholders filled in: of the key, of the value, or in a look-up of one of them. */
static struct str request_of(const struct template *template, long number, struct template *out)
{
    char digits[32];
    char *at;

    *out = *template;
    snprintf(digits, sizeof(digits), "%08ld", number);
    while ((at = memmem(out->bytes, out->size, PLACEHOLDER, strlen(PLACEHOLDER))))
        memcpy(at, digits, strlen(PLACEHOLDER));
    return (struct str){ out->bytes, out->size };
}

static struct str call(
    struct rpc_channel *channel, const char *method, struct str request, struct arena *arena)
{
    struct rpc_status status;
    struct str reply;

    rpc_channel_call(
        channel, &(struct rpc_request){ method, request, CALL_TIMEOUT_MS }, arena, &reply, &status);
    if (status.code != 0) {
        fprintf(stderr, "bench_lag: %.*s\n", STR_ARG(status.message));
        exit(1);
    }
    return reply;
}

static bool shows(struct rpc_channel *channel, struct str lookup, struct str key)
{
    struct arena arena;
    struct str reply;
    bool there;

    arena_init(&arena);
    reply = call(channel, METHOD_LOOKUP, lookup, &arena);
    there = reply.len > 0 && memmem(reply.data, reply.len, key.data, key.len) != NULL;
    arena_cleanup(&arena);
    return there;
}

static uint32_t probe_once(struct probe *probe, struct rpc_channel *channel, long number)
{
    struct template write, lookup;
    struct arena arena;
    char key[32];
    int64_t acknowledged_ns;
    struct str lookup_request = request_of(&probe->lookup, number, &lookup);

    arena_init(&arena);
    call(channel, METHOD_WRITE, request_of(&probe->write, number, &write), &arena);
    acknowledged_ns = now_ns();
    arena_cleanup(&arena);
    snprintf(key, sizeof(key), "r%08ld", number);
    while (!shows(channel, lookup_request, (struct str){ key, strlen(key) })) {
        int64_t lag_ns = now_ns() - acknowledged_ns;
        int64_t pause_ns = lag_ns / POLL_SHARE > POLL_NS ? lag_ns / POLL_SHARE : POLL_NS;

        require(lag_ns < (int64_t)CALL_TIMEOUT_MS * 1000000, "an entry does not appear");
        nanosleep(&(struct timespec){ .tv_nsec = pause_ns }, NULL);
    }
    return (uint32_t)((now_ns() - acknowledged_ns) / 1000);
}

static void *run(void *argument)
{
    struct probe *probe = argument;
    long number = FIRST + (long)probe->index * NUMBERS + (long)(now_ns() / 1000 % (NUMBERS / 2));
    struct rpc_channel *channel;
    struct error err = { 0 };

    require(rpc_channel_open(&(struct rpc_channel_options){ .target = probe->target }, &channel, &err) ==
                STATUS_OK,
        err.message);
    while (now_ns() < probe->end_ns && probe->count < SAMPLES_MAX) {
        probe->samples[probe->count++] = probe_once(probe, channel, number++);
        nanosleep(&(struct timespec){ .tv_nsec = REST_NS }, NULL);
    }
    rpc_channel_close(channel);
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void print_result(const struct probe *probes, int count, double seconds)
{
    static uint32_t all[PROBES_MAX * SAMPLES_MAX];
    size_t total = 0;

    for (int i = 0; i < count; i++) {
        memcpy(all + total, probes[i].samples, probes[i].count * sizeof(*all));
        total += probes[i].count;
    }
    require(total > 0, "nothing was probed");
    qsort(all, total, sizeof(*all), by_value);
    printf("probes %zu rate %.1f p50_us %u p99_us %u p999_us %u\n", total, (double)total / seconds,
        all[total / 2], all[(total - 1) * 99 / 100], all[(total - 1) * 999 / 1000]);
}

int main(int argc, char **argv)
{
    static struct probe probes[PROBES_MAX];
    int count = argc == 6 ? (int)strtol(argv[3], NULL, 10) : 0;
    int64_t began_ns = now_ns();

    require(count > 0 && count <= PROBES_MAX, "needs TARGET SECONDS PROBES WRITE_FILE LOOKUP_FILE");
    for (int i = 0; i < count; i++) {
        probes[i].index = i;
        probes[i].target = argv[1];
        probes[i].write = read_template(argv[4]);
        probes[i].lookup = read_template(argv[5]);
        probes[i].end_ns = began_ns + (int64_t)(strtod(argv[2], NULL) * 1e9);
        require(pthread_create(&probes[i].thread, NULL, run, &probes[i]) == 0, "cannot start a thread");
    }
    for (int i = 0; i < count; i++)
        pthread_join(probes[i].thread, NULL);
    print_result(probes, count, (double)(now_ns() - began_ns) / 1e9);
    return 0;
}

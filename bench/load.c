/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - a load of many calls at once, with the bare C core.
 *
 *   bench_load TARGET METHOD FILE IN_FLIGHT SECONDS [OPTION...]
 *
 * FILE holds the requests as they travel: a byte 0, four bytes of length (big-endian), the message; again and
 * again. They are sent in this order, from the beginning again at the end of the file. What keys a load has -
 * uniform, Zipf, one hot key - is thus the file's business.
 *
 *   once            every request once; ends with the last, or with the time
 *   if-match        every request gets a precondition: the ETag of the reply to the same request before, `*` at first
 *   request-id      every request gets an id of its own
 *   stream          IN_FLIGHT bidirectional streams, each with one message under way
 *   drain           IN_FLIGHT streams of replies, read to their end; every reply counts as a call
 *   rate=N          an open loop: N calls are due per second; latency counts from when a call was due. At most
 *                   IN_FLIGHT are under way; what waits for one of them is late, which its latency shows unless
 *                   the load is lenient: then latency counts from when a call was sent
 *   connections=N   channels, each with a connection of its own; calls take turns
 *   deadline=MS     the deadline of each call
 *   lenient         calls may fail: they are counted, and have no latency
 *   hold            everybody calls once (or opens a stream and sends one message), "holding" is printed, and all
 *                   stays open until the time is over
 *   header=N:V      metadata of each call; may be given again
 *   keep=FILE       the last reply is written there
 *   tls=FILE        TLS, trusting the authority in FILE
 *
 * Prints one line: calls failed seconds p50_us p99_us p999_us cpu_us reply_bytes. cpu_us is this client's own per
 * call; a call failed unless its status is OK and its reply has bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/load.h"

enum { FIXED_ARGUMENTS = 6, HEADERS_MAX = 8 };

/* ---- options ---- */

static void add_header(struct load *load, char *text)
{
    static grpc_metadata headers[HEADERS_MAX];
    char *colon = strchr(text, ':');

    require(colon != NULL && load->header_count < HEADERS_MAX, "header=NAME:VALUE");
    *colon = '\0';
    headers[load->header_count++] = (grpc_metadata){ .key = grpc_slice_from_static_string(text),
        .value = grpc_slice_from_static_string(colon + 1) };
    load->headers = headers;
}

static void read_option(struct load *load, struct load_options *options, char *word)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        { "once", &options->once },
        { "if-match", &options->if_match },
        { "request-id", &options->request_id },
        { "stream", &options->stream },
        { "drain", &options->drain },
        { "lenient", &options->lenient },
        { "hold", &options->hold },
    };
    char *equals = strchr(word, '=');
    char *value = equals ? equals + 1 : word;

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (strcmp(word, flags[i].name) == 0) {
            *flags[i].flag = true;
            return;
        }
    }
    if (strncmp(word, "rate=", 5) == 0)
        options->rate = strtod(value, NULL);
    else if (strncmp(word, "connections=", 12) == 0)
        options->connections = (int)strtol(value, NULL, 10);
    else if (strncmp(word, "deadline=", 9) == 0)
        options->deadline_ms = (int)strtol(value, NULL, 10);
    else if (strncmp(word, "header=", 7) == 0)
        add_header(load, value);
    else if (strncmp(word, "tls=", 4) == 0)
        options->authority_file = value;
    else if (strncmp(word, "keep=", 5) == 0)
        options->keep_file = value;
    else
        require(false, word);
}

static void read_options(struct load *load, struct load_options *options, int argc, char **argv)
{
    require(argc >= FIXED_ARGUMENTS, "needs TARGET METHOD FILE IN_FLIGHT SECONDS [OPTION...]");
    *options = (struct load_options){ .target = argv[1],
        .method = argv[2],
        .file = argv[3],
        .in_flight = (int)strtol(argv[4], NULL, 10),
        .seconds = strtod(argv[5], NULL),
        .connections = 1 };
    for (int i = FIXED_ARGUMENTS; i < argc; i++)
        read_option(load, options, argv[i]);
    require(options->in_flight > 0 && options->in_flight <= CALLS_MAX, "IN_FLIGHT is out of range");
    require(options->connections > 0 && options->rate >= 0, "connections or rate is out of range");
    load->options = options;
}

int main(int argc, char **argv)
{
    static struct load load = { .lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER };
    static struct load_options options;

    grpc_init();
    read_options(&load, &options, argc, argv);
    load_requests_read(&load);
    require(!options.if_match || load.request_count > (size_t)options.in_flight,
        "if-match needs more requests than calls");
    load_calls_connect(&load);
    tally_begin(&load.tally);
    load.end_ns = load.tally.begin_ns + (int64_t)(options.seconds * 1e9);
    load_calls_run(&load);
    tally_print(&load.tally);
    return load.tally.failed > 0 && !options.lenient;
}

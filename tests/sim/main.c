/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - runs schedule after schedule, each from a seed; the first that fails is printed and can be repeated. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/digits.h"
#include "base/log.h"
#include "tests/sim/sim.h"

static struct {
    uint64_t first, count, failures;
    const char *without;
    bool trace;
} options = { .first = 1, .count = 1000000, .failures = 1 };

static char failure[256];

bool sim_without(const char *guard)
{
    return options.without && strcmp(options.without, guard) == 0;
}

bool sim_failed(void)
{
    return failure[0] != '\0';
}

void sim_fail(const char *format, ...)
{
    va_list arguments;

    if (sim_failed())
        return;
    va_start(arguments, format);
    (void)vsnprintf(failure, sizeof(failure), format, arguments);
    va_end(arguments);
    sim_trace("%s", failure);
}

void sim_trace(const char *format, ...)
{
    va_list arguments;

    if (!options.trace)
        return;
    printf("%12.6f ", (double)sim_now_us() / 1e6);
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

void sim_step(const char *about, const char *format, ...)
{
    char text[256];
    va_list arguments;

    if (!options.trace)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    sim_trace("step of actor %d about %s: %s", sim_actor(), about, text);
}

static int usage(FILE *out, int code)
{
    fputs(
        "usage: sim [--schedules N] [--seed FIRST] [--without GUARD] [--failures N] [--trace]\n"
        "\n"
        "  Runs N schedules (1000000) of the worker program on simulated time, from the seeds FIRST (1) on.\n"
        "  Exit code 1: one failed; its seed is printed, and the run ends with the Nth (1). GUARD: one of G7 "
        "G8 "
        "G9\n"
        "  G10 G14 I8, left out to see it fail; with --diagram FILE.svg its shortest failure is drawn.\n",
        out);
    return code;
}

static int run(void)
{
    struct timespec start, end;
    uint64_t failures = 0;
    double seconds;

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint64_t i = 0; i < options.count; i++) {
        const unsigned long long seed = options.first + i;

        actors_run(seed);
        if (!sim_failed())
            continue;
        printf(
            "sim: seed %llu: %s\nsim: see it with --seed %llu --schedules 1 --trace\n", seed, failure, seed);
        failure[0] = '\0';
        if (++failures == options.failures)
            break;
    }
    if (failures > 0)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
    printf("sim: %llu schedules from seed %llu, 0 failed, %.0f s, %.0f a second\n",
        (unsigned long long)options.count, (unsigned long long)options.first, seconds,
        (double)options.count / seconds);
    return 0;
}

int main(int count, char **arguments)
{
    static const struct option known[] = { { "schedules", required_argument, NULL, 'n' },
        { "seed", required_argument, NULL, 's' }, { "without", required_argument, NULL, 'w' },
        { "failures", required_argument, NULL, 'f' }, { "trace", no_argument, NULL, 't' },
        { "help", no_argument, NULL, 'h' }, { 0 } };
    int option;
    bool is_number = true;

    log_init("sim", LOG_ERROR, LOG_LOGFMT);
    while ((option = getopt_long(count, arguments, "", known, NULL)) != -1) {
        switch (option) {
        case 'n':
            is_number &= digits_parse_unsigned(str_of(optarg), UINT64_MAX, &options.count);
            break;
        case 's':
            is_number &= digits_parse_unsigned(str_of(optarg), UINT64_MAX, &options.first);
            break;
        case 'f':
            is_number &= digits_parse_unsigned(str_of(optarg), UINT64_MAX, &options.failures);
            break;
        case 'w':
            options.without = optarg;
            break;
        case 't':
            options.trace = true;
            break;
        case 'h':
            return usage(stdout, 0);
        default:
            return usage(stderr, 2);
        }
    }
    return is_number ? run() : usage(stderr, 2);
}

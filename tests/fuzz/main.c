/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - runs one fuzz target: first on all inputs of the folders, then on mutations of them.
 *
 *   fuzz list                               the targets
 *   fuzz TARGET COUNT|SECONDSs SEED FOLDER...   a number of mutations, or a number of seconds
 *
 * Inputs that reach something new are kept in the last folder when a time is given. The target runs in a child
 * process on memory that is shared with the parent, which saves the input that killed it beside the folder
 * and says so.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/coverage.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/inputs.h"

enum { HANG_SECONDS = 20, RUNS_PER_ALARM = 256 };

/* Shared by parent and child. */
struct shared {
    size_t len;
    char input[FUZZ_INPUT_BYTES];
};

struct campaign {
    const struct fuzz_target *target;
    uint64_t runs; /* 0: until the time is over */
    time_t end;
    const char *keep; /* folder for findings, or NULL */
    struct inputs inputs;
    struct shared *shared;
};

/* Run the shared input in memory of exactly its size, so that overruns are seen. */
static bool run_input(const struct campaign *campaign)
{
    const struct shared *shared = campaign->shared;
    char *exact = malloc(shared->len ? shared->len : 1);

    if (!exact)
        abort();
    memcpy(exact, shared->input, shared->len);
    coverage_start();
    campaign->target->run(str_of_bytes(exact, shared->len));
    free(exact);
    return coverage_is_new();
}

static void replay(struct campaign *campaign)
{
    for (size_t i = 0; i < campaign->inputs.count; i++) {
        struct str input = campaign->inputs.items[i];

        alarm(HANG_SECONDS);
        campaign->shared->len = input.len;
        if (input.len > 0)
            memcpy(campaign->shared->input, input.data, input.len);
        run_input(campaign);
    }
}

static uint64_t mutate(struct campaign *campaign)
{
    struct shared *shared = campaign->shared;
    uint64_t runs = 0;

    while (campaign->runs ? runs < campaign->runs : time(NULL) < campaign->end) {
        alarm(HANG_SECONDS);
        for (int i = 0; i < RUNS_PER_ALARM; i++, runs++) {
            shared->len = inputs_mutate(&campaign->inputs, shared->input);
            if (!run_input(campaign))
                continue;
            inputs_add(&campaign->inputs, str_of_bytes(shared->input, shared->len));
            if (campaign->keep)
                inputs_save(str_of_bytes(shared->input, shared->len), campaign->keep, "");
        }
    }
    return runs;
}

static void run_child(struct campaign *campaign)
{
    size_t given = campaign->inputs.count;
    uint64_t runs;

    replay(campaign);
    runs = mutate(campaign);
    printf("%s: %zu inputs, %" PRIu64 " mutations, %zu new, %zu places\n", campaign->target->name, given,
        runs, campaign->inputs.count - given, coverage_count());
    exit(EXIT_SUCCESS); /* which lets the sanitizer look for leaks */
}

static int run(struct campaign *campaign, const char *folder)
{
    const char *path;
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        run_child(campaign);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
        return EXIT_SUCCESS;
    path = inputs_save(str_of_bytes(campaign->shared->input, campaign->shared->len), folder, "../find-");
    fprintf(stderr, "%s: it died (%s %d); the input is in %s\n", campaign->target->name,
        WIFSIGNALED(status) ? "signal" : "exit", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
        path ? path : "no file: the folder cannot be written");
    return EXIT_FAILURE;
}

static int list(void)
{
    for (const struct fuzz_target *target = fuzz_targets; target->name; target++)
        puts(target->name);
    return EXIT_SUCCESS;
}

static const struct fuzz_target *find_target(const char *name)
{
    const struct fuzz_target *target = fuzz_targets;

    while (target->name && strcmp(target->name, name) != 0)
        target++;
    return target->name ? target : NULL;
}

int main(int argc, char **argv)
{
    static struct campaign campaign; /* its memory is not leaked, but released with the program */
    char *unit;

    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list();
    campaign.target = argc >= 5 ? find_target(argv[1]) : NULL;
    if (!campaign.target) {
        fprintf(stderr, "usage: fuzz list | fuzz TARGET COUNT|SECONDSs SEED FOLDER...\n");
        return EXIT_FAILURE;
    }
    campaign.runs = strtoull(argv[2], &unit, 10);
    if (*unit == 's') {
        campaign.end = time(NULL) + (time_t)campaign.runs;
        campaign.runs = 0;
        campaign.keep = argv[argc - 1];
    }
    campaign.inputs.random = strtoull(argv[3], NULL, 10);
    for (int i = 4; i < argc; i++)
        inputs_load(&campaign.inputs, argv[i]);
    campaign.shared =
        mmap(NULL, sizeof(*campaign.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (campaign.shared == MAP_FAILED)
        return EXIT_FAILURE;
    return run(&campaign, argv[argc - 1]);
}

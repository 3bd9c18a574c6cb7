/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_queue.c - queues: how they are doing and what they may do; and all that is behind on one page.
 */
#include "client/command.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/wire.h"
#include "client/conversation.h"

enum { TOP_EVERY_S = 2, MAX_CELL_BYTES = 32 };

/* QueueControl */
enum {
    CONTROL_PAUSE = 1,
    CONTROL_RESUME = 2,
    CONTROL_DRAIN = 3,
    CONTROL_LIMIT_RATE = 4,
    CONTROL_RESHARD = 5
};

enum { REQUEST_QUEUE = 1, REQUEST_KIND = 2, REQUEST_CONTROL = 3, REQUEST_RATE = 4, REQUEST_SHARDS = 5 };
enum { REPLY_MAP_VERSION = 2, MAX_SHARDS = 64 };
enum { QUEUES = 1, QUEUE_NAME = 1, QUEUE_WORK = 2 };
enum { WORK_KIND = 1, WORK_STATE, WORK_LIMIT, WORK_OPEN, WORK_OLDEST, WORK_PER_SECOND, WORK_TIME_TO_FRESH };
enum { VIEW_INDEX = 1, VIEW_STATUS = 2, INDEX_NAME = 1, INDEX_TABLE = 2 };
enum { STATUS_STATE = 1, STATUS_LAG = 2, STATUS_VIOLATIONS = 4, STATUS_DISCARDED = 7, STATUS_CAUSES = 8 };
enum { LETTERS_FILTER = 1, LETTERS_BY_CAUSE = 2, FILTER_STATE = 1, LETTERS_CAUSES = 2, CAUSE_COUNT = 2 };
enum { LAG_AGE = 1, LAG_OPEN = 2, LAG_PER_SECOND = 4, LAG_TIME_TO_FRESH = 5 };
enum { INDEXES_TOKEN = 2, INDEXES_NEXT = 2 };

static const char *const kinds[] = { "?", "reconcile", "transaction" };
static const char *const queue_states[] = { "?", "RUNNING", "PAUSED", "DRAINING" };
enum {
    KIND_RECONCILE = 1,
    QUEUE_PAUSED = 2,
    DEAD_LETTER_DEAD = 1,
    DEAD_LETTER_RETRYING = 2,
    DEAD_LETTER_DISCARDED = 3
};
static const char *const index_states[] = { "?", "BUILDING", "VALIDATING", "READY", "DROPPING" };

static const char *name_of(const char *const *names, size_t count, uint64_t value)
{
    return names[value < count ? value : 0];
}

/* Seconds as people read them; below 0: it cannot be told. */
static const char *duration(double seconds, char out[MAX_CELL_BYTES])
{
    if (seconds < 0)
        snprintf(out, MAX_CELL_BYTES, "-");
    else if (seconds < 100)
        snprintf(out, MAX_CELL_BYTES, "%.1f s", seconds);
    else if (seconds < 6000)
        snprintf(out, MAX_CELL_BYTES, "%.0f min", seconds / 60);
    else
        snprintf(out, MAX_CELL_BYTES, "%.0f h", seconds / 3600);
    return out;
}

/* What a paused queue did before it was paused is not its pace. */
static const char *pace(double per_second, bool is_paused, char out[MAX_CELL_BYTES])
{
    snprintf(out, MAX_CELL_BYTES, is_paused ? "-" : "%.1f", per_second);
    return out;
}

/* ---- queues ---- */

static void print_work(struct str queue, struct str work)
{
    char limit[MAX_CELL_BYTES] = "-", oldest[MAX_CELL_BYTES], fresh[MAX_CELL_BYTES], rate[MAX_CELL_BYTES];
    bool is_paused = conversation_number(work, WORK_STATE) == QUEUE_PAUSED;

    if (conversation_number(work, WORK_LIMIT) > 0)
        snprintf(limit, sizeof(limit), "%llu/s", (unsigned long long)conversation_number(work, WORK_LIMIT));
    printf("%-5.*s %-11s %-8s %9s %9llu %9s %9s %9s\n", STR_ARG(queue),
        name_of(kinds, ARRAY_LEN(kinds), conversation_number(work, WORK_KIND)),
        name_of(queue_states, ARRAY_LEN(queue_states), conversation_number(work, WORK_STATE)), limit,
        (unsigned long long)conversation_number(work, WORK_OPEN),
        duration(conversation_seconds(work, WORK_OLDEST), oldest),
        pace(conversation_double(work, WORK_PER_SECOND), is_paused, rate),
        duration(is_paused ? -1 : conversation_seconds(work, WORK_TIME_TO_FRESH), fresh));
}

static void print_queues(struct str reply)
{
    struct str queue, work;

    printf("%-5s %-11s %-8s %9s %9s %9s %9s %9s\n", "queue", "work", "state", "limit", "open", "oldest",
        "applied/s", "fresh in");
    while (conversation_next(&reply, QUEUES, &queue))
        for (struct str rest = queue; conversation_next(&rest, QUEUE_WORK, &work);)
            print_work(conversation_text(queue, QUEUE_NAME), work);
}

static void print_map_version(struct str reply)
{
    printf("map version %llu\n", (unsigned long long)conversation_number(reply, REPLY_MAP_VERSION));
}

/* A method whose reply tells of queues. */
static bool show_queues(struct conversation *talk, const char *path, struct buf *request, struct str *reply)
{
    if (!conversation_call(talk, path, request, reply))
        return false;
    print_queues(*reply);
    return true;
}

static bool list_queues(struct conversation *talk, struct str *reply)
{
    struct buf request;

    buf_init(&request, &talk->arena);
    return show_queues(talk, "/tavola.v1.AdminService/ListQueues", &request, reply);
}

static bool control_queues(struct conversation *talk, struct buf *request, struct str *reply)
{
    return show_queues(talk, "/tavola.v1.AdminService/ControlQueue", request, reply);
}

static int run_queue_list(const struct client_config *config, int argc, char **argv)
{
    struct conversation talk;
    struct str reply;
    bool shown;

    (void)argv;
    if (argc != 0)
        return command_misused("queue list", "");
    if (!conversation_begin(&talk, config))
        return COMMAND_FAILED;
    shown = list_queues(&talk, &reply);
    if (shown)
        print_map_version(reply);
    return conversation_end(&talk, shown ? COMMAND_OK : COMMAND_FAILED);
}

/* "all", or a queue's name; and maybe a kind of work. */
static bool write_target(struct buf *request, int argc, char **argv)
{
    if (argc < 1 || argc > 2)
        return false;
    if (strcmp(argv[0], "all") != 0)
        wire_write_bytes(request, REQUEST_QUEUE, str_of(argv[0]));
    for (size_t kind = 1; argc == 2 && kind < ARRAY_LEN(kinds); kind++)
        if (strcmp(argv[1], kinds[kind]) == 0) {
            wire_write_scalar(request, REQUEST_KIND, kind);
            return true;
        }
    return argc == 1;
}

/* rate below 0: none is given. */
static int job_control(const struct client_config *config, int argc, char **argv, const char *words,
    const char *arguments, int control, long long rate)
{
    struct conversation talk;
    struct buf request;
    struct str reply;

    if (!conversation_begin(&talk, config))
        return COMMAND_FAILED;
    buf_init(&request, &talk.arena);
    if (!write_target(&request, argc, argv))
        return conversation_end(&talk, command_misused(words, arguments));
    wire_write_scalar(&request, REQUEST_CONTROL, (uint64_t)control);
    if (rate >= 0)
        wire_write_scalar(&request, REQUEST_RATE, (uint64_t)rate);
    return conversation_end(&talk, control_queues(&talk, &request, &reply) ? COMMAND_OK : COMMAND_FAILED);
}

#define TARGET "QUEUE|all [reconcile|transaction]"
#define SHARDS_ARGUMENTS "NUMBER (1 to 64)"
#define RATE_ARGUMENTS "INTENTS_PER_SECOND|0 " TARGET

static int run_queue_pause(const struct client_config *config, int argc, char **argv)
{
    return job_control(config, argc, argv, "queue pause", TARGET, CONTROL_PAUSE, -1);
}

static int run_queue_resume(const struct client_config *config, int argc, char **argv)
{
    return job_control(config, argc, argv, "queue resume", TARGET, CONTROL_RESUME, -1);
}

static int run_queue_drain(const struct client_config *config, int argc, char **argv)
{
    return job_control(config, argc, argv, "queue drain", TARGET, CONTROL_DRAIN, -1);
}

static int run_queue_rate(const struct client_config *config, int argc, char **argv)
{
    char *end = NULL;
    long long rate = argc > 0 ? strtoll(argv[0], &end, 10) : -1;

    if (rate < 0 || end == argv[0] || *end)
        return command_misused("queue rate", RATE_ARGUMENTS);
    return job_control(config, argc - 1, argv + 1, "queue rate", RATE_ARGUMENTS, CONTROL_LIMIT_RATE, rate);
}

static int run_queue_shards(const struct client_config *config, int argc, char **argv)
{
    struct conversation talk;
    struct buf request;
    struct str reply;
    char *end = NULL;
    long shards = argc == 1 ? strtol(argv[0], &end, 10) : 0;
    bool shown;

    if (shards < 1 || shards > MAX_SHARDS || *end)
        return command_misused("queue shards", SHARDS_ARGUMENTS);
    if (!conversation_begin(&talk, config))
        return COMMAND_FAILED;
    buf_init(&request, &talk.arena);
    wire_write_scalar(&request, REQUEST_CONTROL, CONTROL_RESHARD);
    wire_write_scalar(&request, REQUEST_SHARDS, (uint64_t)shards);
    shown = control_queues(&talk, &request, &reply);
    if (shown)
        print_map_version(reply);
    return conversation_end(&talk, shown ? COMMAND_OK : COMMAND_FAILED);
}

/* ---- top ---- */

/* Whether no queue makes indexes agree. */
static bool none_reconciles(struct str reply)
{
    struct str queue, work;

    while (conversation_next(&reply, QUEUES, &queue))
        for (struct str rest = queue; conversation_next(&rest, QUEUE_WORK, &work);)
            if (conversation_number(work, WORK_KIND) == KIND_RECONCILE &&
                conversation_number(work, WORK_STATE) != QUEUE_PAUSED)
                return false;
    return true;
}

static void print_index_row(struct str view, bool is_paused)
{
    struct str index = conversation_text(view, VIEW_INDEX), status = conversation_text(view, VIEW_STATUS);
    struct str lag = conversation_text(status, STATUS_LAG), cause;
    unsigned long long violations = (unsigned long long)conversation_number(status, STATUS_VIOLATIONS);
    unsigned long long discarded = (unsigned long long)conversation_number(status, STATUS_DISCARDED);
    char age[MAX_CELL_BYTES], fresh[MAX_CELL_BYTES], rate[MAX_CELL_BYTES];

    printf("%-24.*s %-24.*s %-10s %9llu %9s %9s %9s %10llu %9llu %9llu\n",
        STR_ARG(conversation_text(index, INDEX_NAME)), STR_ARG(conversation_text(index, INDEX_TABLE)),
        name_of(index_states, ARRAY_LEN(index_states), conversation_number(status, STATUS_STATE)),
        (unsigned long long)conversation_number(lag, LAG_OPEN),
        duration(conversation_seconds(lag, LAG_AGE), age),
        pace(conversation_double(lag, LAG_PER_SECOND), is_paused, rate),
        duration(is_paused ? -1 : conversation_seconds(lag, LAG_TIME_TO_FRESH), fresh), violations,
        violations - discarded, discarded);
    while (conversation_next(&status, STATUS_CAUSES, &cause))
        printf("  %.*s\n", STR_ARG(cause));
}

static void print_index(struct str view)
{
    print_index_row(view, false);
}

static void print_paused_index(struct str view)
{
    print_index_row(view, true);
}

static bool show_indexes(struct conversation *talk, bool is_paused)
{
    const struct listing indexes = {
        .path = "/tavola.v1.IndexService/ListIndexes",
        .token = INDEXES_TOKEN,
        .next = INDEXES_NEXT,
        .print = is_paused ? print_paused_index : print_index,
    };

    printf("%-24s %-24s %-10s %9s %9s %9s %9s %10s %9s %9s\n", "index", "table", "state", "open", "lag",
        "applied/s", "fresh in", "violations", "standing", "discarded");
    return conversation_list(talk, &indexes, STR_EMPTY);
}

/* Dead letters in this state, of keys and of transactions. */
static bool count_letters(struct conversation *talk, int state, unsigned long long *count)
{
    struct buf request, filter;
    struct str reply, cause;

    buf_init(&request, &talk->arena);
    buf_init(&filter, &talk->arena);
    wire_write_scalar(&filter, FILTER_STATE, (uint64_t)state);
    wire_write_bytes(&request, LETTERS_FILTER, buf_str(&filter));
    wire_write_scalar(&request, LETTERS_BY_CAUSE, 1);
    if (!conversation_call(talk, "/tavola.v1.AdminService/ListDeadLetters", &request, &reply))
        return false;
    for (*count = 0; conversation_next(&reply, LETTERS_CAUSES, &cause);)
        *count += (unsigned long long)conversation_number(cause, CAUSE_COUNT);
    return true;
}

static bool show_letters(struct conversation *talk)
{
    unsigned long long standing, retrying, discarded;

    if (!count_letters(talk, DEAD_LETTER_DEAD, &standing) ||
        !count_letters(talk, DEAD_LETTER_RETRYING, &retrying) ||
        !count_letters(talk, DEAD_LETTER_DISCARDED, &discarded))
        return false;
    printf(
        "\ndead letters: %llu standing, %llu discarded; %llu being retried\n", standing, discarded, retrying);
    return true;
}

static bool show_all(struct conversation *talk)
{
    struct str reply;

    if (!list_queues(talk, &reply))
        return false;
    printf("\n");
    return show_indexes(talk, none_reconciles(reply)) && show_letters(talk);
}

/* A terminal shows it in place, anything else one page behind another. */
static int run_top(const struct client_config *config, int argc, char **argv)
{
    bool once = argc == 1 && strcmp(argv[0], "--once") == 0;
    const struct timespec pause = { .tv_sec = TOP_EVERY_S };
    struct conversation talk;
    bool shown;

    if (argc != 0 && !once)
        return command_misused("top", "[--once]");
    if (!conversation_begin(&talk, config))
        return COMMAND_FAILED;
    for (;;) {
        if (!once && isatty(STDOUT_FILENO))
            printf("\033[H\033[2J");
        shown = show_all(&talk);
        if (fflush(stdout) != 0 || !shown || once)
            break;
        if (!isatty(STDOUT_FILENO))
            printf("\n");
        arena_cleanup(&talk.arena);
        nanosleep(&pause, NULL);
    }
    return conversation_end(&talk, shown ? COMMAND_OK : COMMAND_FAILED);
}

static const struct command commands[] = {
    {
        .words = "top",
        .arguments = "[--once]",
        .help = "show queues and indexes: what is open, how late it is, how fast it goes",
        .run = run_top,
    },
    {
        .words = "queue list",
        .arguments = "",
        .help = "show every queue: what it may do, what is open, how fast it goes",
        .run = run_queue_list,
    },
    {
        .words = "queue pause",
        .arguments = TARGET,
        .help = "begin no work of a queue any more; it still takes work",
        .run = run_queue_pause,
    },
    {
        .words = "queue resume",
        .arguments = TARGET,
        .help = "let a queue work again",
        .run = run_queue_resume,
    },
    {
        .words = "queue drain",
        .arguments = TARGET,
        .help = "let a queue do what is open now, then pause it",
        .run = run_queue_drain,
    },
    {
        .words = "queue rate",
        .arguments = RATE_ARGUMENTS,
        .help = "limit a queue to so many intents a second, or lift the limit",
        .run = run_queue_rate,
    },
    {
        .words = "queue shards",
        .arguments = SHARDS_ARGUMENTS,
        .help = "change how many queues there are, while everything runs",
        .run = run_queue_shards,
    },
};

const struct command_group commands_queue = { "Queues", commands, ARRAY_LEN(commands) };

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_queue.c - queues: their state and their control; and `top`, which shows every backlog.
 */
#include "client/command.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "api/codec.h"
#include "base/clock.h"
#include "base/digits.h"
#include "client/api_client.h"
#include "client/hot_view.h"
#include "tavola/v1/admin_service.pb-c.h"
#include "tavola/v1/index_service.pb-c.h"

#define ADMIN "/tavola.v1.AdminService/"

enum { TOP_EVERY_S = 2, TOP_PARTITIONS = 5, MAX_CELL_BYTES = 32, MAX_SHARDS = 64 };

/* ---- cells of tables ---- */

/* The seconds of a duration; -1: not known. */
static double seconds_of(const Google__Protobuf__Duration *duration)
{
    return duration ? (double)duration->seconds + duration->nanos / 1e9 : -1;
}

/* Format a duration. Negative: not known. */
static const char *format_duration(double seconds, char out[MAX_CELL_BYTES])
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

/* The rate of a paused queue is not shown, because the average still has work from before the pause. */
static const char *format_rate(double per_second, bool is_paused, char out[MAX_CELL_BYTES])
{
    snprintf(out, MAX_CELL_BYTES, is_paused ? "-" : "%.1f", per_second);
    return out;
}

/* The name of a kind of work: "reconcile", "transaction". */
static const char *format_kind(Tavola__V1__WorkKind kind, char out[MAX_CELL_BYTES])
{
    snprintf(out, MAX_CELL_BYTES, "%s", api_client_enum_name(&tavola__v1__work_kind__descriptor, (int)kind));
    for (char *letter = out; *letter; letter++)
        *letter = (char)tolower((unsigned char)*letter);
    return out;
}

/* ---- queues ---- */

static void print_work(const Tavola__V1__Queue *queue, const Tavola__V1__QueueWork *work)
{
    char kind[MAX_CELL_BYTES], limit[MAX_CELL_BYTES] = "-", oldest[MAX_CELL_BYTES];
    char fresh[MAX_CELL_BYTES], rate[MAX_CELL_BYTES];
    bool is_paused = work->state == TAVOLA__V1__QUEUE_STATE__QUEUE_STATE_PAUSED;

    if (work->rate_limit > 0)
        snprintf(limit, sizeof(limit), "%lld/s", (long long)work->rate_limit);
    printf("%-5.*s %-11s %-8s %9s %9lld %9s %9s %9s\n", STR_ARG(codec_str(queue->name)),
        format_kind(work->kind, kind),
        api_client_enum_name(&tavola__v1__queue_state__descriptor, (int)work->state), limit,
        (long long)work->open_intents, format_duration(seconds_of(work->oldest_age), oldest),
        format_rate(work->applied_per_second, is_paused, rate),
        format_duration(is_paused ? -1 : seconds_of(work->time_to_fresh), fresh));
}

static void print_queues(Tavola__V1__Queue *const *queues, size_t count)
{
    printf("%-5s %-11s %-8s %9s %9s %9s %9s %9s\n", "queue", "work", "state", "limit", "open", "oldest",
        "applied/s", "fresh in");
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < queues[i]->n_work; j++)
            print_work(queues[i], queues[i]->work[j]);
}

static void print_map_version(int64_t version)
{
    printf("map version %lld\n", (long long)version);
}

/* Print all queues. NULL: the call failed. */
static const Tavola__V1__ListQueuesResponse *list_queues(struct api_client *client)
{
    const Tavola__V1__ListQueuesRequest request = TAVOLA__V1__LIST_QUEUES_REQUEST__INIT;
    const Tavola__V1__ListQueuesResponse *reply = api_client_call(
        client, ADMIN "ListQueues", &request.base, &tavola__v1__list_queues_response__descriptor);

    if (reply)
        print_queues(reply->queues, reply->n_queues);
    return reply;
}

static int run_queue_list(const struct client_config *config, int argc, char **argv)
{
    const Tavola__V1__ListQueuesResponse *reply;
    struct api_client client;

    (void)argv;
    if (argc != 0)
        return command_misused("queue list", "");
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    reply = list_queues(&client);
    if (reply)
        print_map_version(reply->map_version);
    return api_client_close(&client, reply ? COMMAND_OK : COMMAND_FAILED);
}

/* ---- control ---- */

/* Send the request and print the queues of the reply. */
static int control_queues(const struct client_config *config, const Tavola__V1__ControlQueueRequest *request)
{
    const Tavola__V1__ControlQueueResponse *reply;
    struct api_client client;

    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    reply = api_client_call(
        &client, ADMIN "ControlQueue", &request->base, &tavola__v1__control_queue_response__descriptor);
    if (reply) {
        print_queues(reply->queues, reply->n_queues);
        if (request->control == TAVOLA__V1__QUEUE_CONTROL__QUEUE_CONTROL_RESHARD)
            print_map_version(reply->map_version);
    }
    return api_client_close(&client, reply ? COMMAND_OK : COMMAND_FAILED);
}

static bool parse_kind(const char *text, Tavola__V1__WorkKind *out)
{
    const ProtobufCEnumDescriptor *kinds = &tavola__v1__work_kind__descriptor;
    char name[MAX_CELL_BYTES];

    for (unsigned i = 0; i < kinds->n_values; i++) {
        *out = (Tavola__V1__WorkKind)kinds->values[i].value;
        if (*out && strcmp(text, format_kind(*out, name)) == 0)
            return true;
    }
    return false;
}

/* Read the arguments: "all" or the name of a queue, then optionally a kind of work. */
static bool parse_target(int argc, char **argv, Tavola__V1__ControlQueueRequest *request)
{
    if (argc < 1 || argc > 2)
        return false;
    if (strcmp(argv[0], "all") != 0)
        request->queue = codec_bytes(str_of(argv[0]));
    return argc == 1 || parse_kind(argv[1], &request->kind);
}

#define TARGET "QUEUE|all [reconcile|transaction]"
#define SHARDS_ARGUMENTS "NUMBER (1 to 64)"
#define RATE_ARGUMENTS "INTENTS_PER_SECOND|0 " TARGET

static int run_control(const struct client_config *config, int argc, char **argv, const char *words,
    Tavola__V1__QueueControl control)
{
    Tavola__V1__ControlQueueRequest request = TAVOLA__V1__CONTROL_QUEUE_REQUEST__INIT;

    request.control = control;
    return parse_target(argc, argv, &request) ? control_queues(config, &request)
                                              : command_misused(words, TARGET);
}

static int run_queue_pause(const struct client_config *config, int argc, char **argv)
{
    return run_control(config, argc, argv, "queue pause", TAVOLA__V1__QUEUE_CONTROL__QUEUE_CONTROL_PAUSE);
}

static int run_queue_resume(const struct client_config *config, int argc, char **argv)
{
    return run_control(config, argc, argv, "queue resume", TAVOLA__V1__QUEUE_CONTROL__QUEUE_CONTROL_RESUME);
}

static int run_queue_drain(const struct client_config *config, int argc, char **argv)
{
    return run_control(config, argc, argv, "queue drain", TAVOLA__V1__QUEUE_CONTROL__QUEUE_CONTROL_DRAIN);
}

static int run_queue_rate(const struct client_config *config, int argc, char **argv)
{
    Tavola__V1__ControlQueueRequest request = TAVOLA__V1__CONTROL_QUEUE_REQUEST__INIT;

    request.control = TAVOLA__V1__QUEUE_CONTROL__QUEUE_CONTROL_LIMIT_RATE;
    if (argc == 0 || !digits_parse_signed(str_of(argv[0]), 0, INT64_MAX, &request.rate) ||
        !parse_target(argc - 1, argv + 1, &request))
        return command_misused("queue limit-rate", RATE_ARGUMENTS);
    return control_queues(config, &request);
}

static int run_queue_shards(const struct client_config *config, int argc, char **argv)
{
    Tavola__V1__ControlQueueRequest request = TAVOLA__V1__CONTROL_QUEUE_REQUEST__INIT;
    uint64_t shards;

    if (argc != 1 || !digits_parse_unsigned(str_of(argv[0]), MAX_SHARDS, &shards) || shards == 0)
        return command_misused("queue reshard", SHARDS_ARGUMENTS);
    request.control = TAVOLA__V1__QUEUE_CONTROL__QUEUE_CONTROL_RESHARD;
    request.shards = (int32_t)shards;
    return control_queues(config, &request);
}

/* ---- top ---- */

/* Whether every queue has paused its work on indexes. */
static bool indexes_are_paused(const Tavola__V1__ListQueuesResponse *reply)
{
    for (size_t i = 0; i < reply->n_queues; i++)
        for (size_t j = 0; j < reply->queues[i]->n_work; j++) {
            const Tavola__V1__QueueWork *work = reply->queues[i]->work[j];

            if (work->kind == TAVOLA__V1__WORK_KIND__WORK_KIND_RECONCILE &&
                work->state != TAVOLA__V1__QUEUE_STATE__QUEUE_STATE_PAUSED)
                return false;
        }
    return true;
}

static void print_index(const Tavola__V1__IndexView *view, bool is_paused)
{
    static const Tavola__V1__Index no_index = TAVOLA__V1__INDEX__INIT;
    static const Tavola__V1__IndexStatus no_status = TAVOLA__V1__INDEX_STATUS__INIT;
    static const Tavola__V1__Lag no_lag = TAVOLA__V1__LAG__INIT;
    const Tavola__V1__Index *index = view->index ? view->index : &no_index;
    const Tavola__V1__IndexStatus *status = view->status ? view->status : &no_status;
    const Tavola__V1__Lag *lag = status->lag ? status->lag : &no_lag;
    char age[MAX_CELL_BYTES], fresh[MAX_CELL_BYTES], rate[MAX_CELL_BYTES];

    printf("%-24.*s %-24.*s %-10s %9lld %9s %9s %9s %10lld %9lld %9lld\n", STR_ARG(codec_str(index->name)),
        STR_ARG(codec_str(index->table)),
        api_client_enum_name(&tavola__v1__index_state__descriptor, (int)status->state),
        (long long)lag->open_intents, format_duration(seconds_of(lag->age), age),
        format_rate(lag->applied_per_second, is_paused, rate),
        format_duration(is_paused ? -1 : seconds_of(lag->time_to_fresh), fresh),
        (long long)status->violations, (long long)(status->violations - status->discarded),
        (long long)status->discarded);
    for (size_t i = 0; i < status->n_violation_causes; i++)
        printf("  %.*s\n", STR_ARG(codec_str(status->violation_causes[i])));
}

static bool show_indexes(struct api_client *client, bool is_paused)
{
    Tavola__V1__ListIndexesRequest request = TAVOLA__V1__LIST_INDEXES_REQUEST__INIT;

    printf("%-24s %-24s %-10s %9s %9s %9s %9s %10s %9s %9s\n", "index", "table", "state", "open", "lag",
        "applied/s", "fresh in", "violations", "dead", "discarded");
    do {
        const Tavola__V1__ListIndexesResponse *page =
            api_client_call(client, "/tavola.v1.IndexService/ListIndexes", &request.base,
                &tavola__v1__list_indexes_response__descriptor);

        if (!page)
            return false;
        for (size_t i = 0; i < page->n_indexes; i++)
            print_index(page->indexes[i], is_paused);
        request.page_token = page->next_page_token;
    } while (request.page_token.len > 0);
    return true;
}

/* Count the dead letters in this state, of keys and of transactions. */
static bool count_dead_letters(struct api_client *client, Tavola__V1__DeadLetterState state, long long *count)
{
    Tavola__V1__DeadLetterFilter filter = TAVOLA__V1__DEAD_LETTER_FILTER__INIT;
    Tavola__V1__ListDeadLettersRequest request = TAVOLA__V1__LIST_DEAD_LETTERS_REQUEST__INIT;
    const Tavola__V1__ListDeadLettersResponse *reply;

    filter.state = state;
    request.filter = &filter;
    request.group_by_cause = true;
    reply = api_client_call(
        client, ADMIN "ListDeadLetters", &request.base, &tavola__v1__list_dead_letters_response__descriptor);
    *count = 0;
    for (size_t i = 0; reply && i < reply->n_causes; i++)
        *count += reply->causes[i]->count;
    return reply != NULL;
}

static bool show_dead_letters(struct api_client *client)
{
    long long dead, retrying, discarded;

    if (!count_dead_letters(client, TAVOLA__V1__DEAD_LETTER_STATE__DEAD_LETTER_STATE_DEAD, &dead) ||
        !count_dead_letters(client, TAVOLA__V1__DEAD_LETTER_STATE__DEAD_LETTER_STATE_RETRYING, &retrying) ||
        !count_dead_letters(client, TAVOLA__V1__DEAD_LETTER_STATE__DEAD_LETTER_STATE_DISCARDED, &discarded))
        return false;
    printf("\ndead letters: %lld dead, %lld discarded; %lld being retried\n", dead, discarded, retrying);
    return true;
}

static bool show_all(struct api_client *client)
{
    const Tavola__V1__ListQueuesResponse *reply = list_queues(client);

    if (!reply)
        return false;
    printf("\n");
    if (!show_indexes(client, indexes_are_paused(reply)) || !show_dead_letters(client))
        return false;
    printf("\n");
    return hot_view_print(client, false, TOP_PARTITIONS, false);
}

/* On a terminal each page replaces the previous one; in a file or pipe the pages follow each other. */
static int run_top(const struct client_config *config, int argc, char **argv)
{
    bool once = argc == 1 && strcmp(argv[0], "--once") == 0;
    struct api_client client;
    bool shown;

    if (argc != 0 && !once)
        return command_misused("top", "[--once]");
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    for (;;) {
        if (!once && isatty(STDOUT_FILENO))
            printf("\033[H\033[2J");
        shown = show_all(&client);
        if (fflush(stdout) != 0 || !shown || once)
            break;
        if (!isatty(STDOUT_FILENO))
            printf("\n");
        arena_cleanup(&client.arena);
        clock_sleep(INT64_C(1000000) * TOP_EVERY_S);
    }
    return api_client_close(&client, shown ? COMMAND_OK : COMMAND_FAILED);
}

static const struct command commands[] = {
    {
        .words = "top",
        .arguments = "[--once]",
        .help =
            "show queues and indexes every 2 seconds: open work, its age, its rate; --once: print one page",
        .run = run_top,
    },
    {
        .words = "queue list",
        .arguments = "",
        .help = "list the queues: state, rate limit, open work, its age, its rate",
        .run = run_queue_list,
    },
    {
        .words = "queue pause",
        .arguments = TARGET,
        .help = "start no more work of a queue; new work is still accepted and waits",
        .run = run_queue_pause,
    },
    {
        .words = "queue resume",
        .arguments = TARGET,
        .help = "start the work of a paused queue again",
        .run = run_queue_resume,
    },
    {
        .words = "queue drain",
        .arguments = TARGET,
        .help = "finish the work of a queue that is open now, then pause the queue",
        .run = run_queue_drain,
    },
    {
        .words = "queue limit-rate",
        .arguments = RATE_ARGUMENTS,
        .help = "limit a queue to this number of intents per second; 0: no limit",
        .run = run_queue_rate,
    },
    {
        .words = "queue reshard",
        .arguments = SHARDS_ARGUMENTS,
        .help = "change the number of queues, while servers and workers run",
        .run = run_queue_shards,
    },
};

const struct command_group commands_queue = { "Queues", commands, ARRAY_LEN(commands) };

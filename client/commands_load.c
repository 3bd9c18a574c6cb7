/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_load.c - hot partitions, and advice on indexes, from the accesses that servers have sampled.
 */
#include "client/command.h"

#include <string.h>

#include "api/codec.h"
#include "client/api_client.h"
#include "client/hot_view.h"
#include "tavola/v1/index_service.pb-c.h"

static int run_hot(const struct client_config *config, int argc, char **argv)
{
    bool is_hour = argc == 1 && strcmp(argv[0], "--hour") == 0;
    struct api_client client;

    if (argc != 0 && !is_hour)
        return command_misused("hot", "[--hour]");
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    return api_client_close(&client, hot_view_print(&client, is_hour, 0, true) ? COMMAND_OK : COMMAND_FAILED);
}

/* ---- advice ---- */

static void print_parts(const char *title, Tavola__V1__KeyPart *const *parts, size_t count)
{
    printf("  %-14s", title);
    for (size_t i = 0; i < count; i++)
        printf("%s%.*s", i > 0 ? ", " : "", STR_ARG(codec_str(parts[i]->property)));
    printf("\n");
}

static void print_advice(const Tavola__V1__IndexAdvice *advice)
{
    if (advice->index)
        printf("create %.*s\n", STR_ARG(codec_str(advice->index->name)));
    else
        printf("look up %.*s, which is there\n", STR_ARG(codec_str(advice->existing_index)));
    printf("  %-14s%lld rows of %lld, in %lld queries\n", "saves", (long long)advice->rows_saved,
        (long long)advice->rows_examined, (long long)advice->queries);
    for (size_t i = 0; i < advice->n_shapes; i++)
        printf("  %-14s%.*s\n", i > 0 ? "" : "of", STR_ARG(codec_str(advice->shapes[i])));
    if (!advice->index)
        return;
    printf("  %-14s%lld entries at most\n", "costs", (long long)advice->entries_written);
    printf("  %-14s%s\n", "place",
        api_client_enum_name(&tavola__v1__index_place__descriptor, (int)advice->index->place));
    print_parts("partition key", advice->index->partition_key, advice->index->n_partition_key);
    print_parts("row key", advice->index->row_key, advice->index->n_row_key);
}

static bool show_advice(struct api_client *client, const char *table)
{
    Tavola__V1__AdviseIndexesRequest request = TAVOLA__V1__ADVISE_INDEXES_REQUEST__INIT;
    const Tavola__V1__AdviseIndexesResponse *reply;

    request.table = codec_bytes(str_of(table));
    reply = api_client_call(client, "/tavola.v1.IndexService/AdviseIndexes", &request.base,
        &tavola__v1__advise_indexes_response__descriptor);
    if (!reply)
        return false;
    for (size_t i = 0; i < reply->n_advice; i++)
        print_advice(reply->advice[i]);
    for (size_t i = 0; i < reply->n_unread; i++)
        printf("not read: %.*s\n  %-14s%lld entries at most\n", STR_ARG(codec_str(reply->unread[i]->index)),
            "cost", (long long)reply->unread[i]->entries_written);
    printf("%lld queries and %lld writes in %.1f hours\n", (long long)reply->queries,
        (long long)reply->writes, reply->covered ? (double)reply->covered->seconds / 3600 : 0);
    return true;
}

static int run_advise(const struct client_config *config, int argc, char **argv)
{
    struct api_client client;

    if (argc != 1)
        return command_misused("advise", "TABLE");
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    return api_client_close(&client, show_advice(&client, argv[0]) ? COMMAND_OK : COMMAND_FAILED);
}

static const struct command commands[] = {
    {
        .words = "hot",
        .arguments = "[--hour]",
        .help = "the partitions with most reads and writes of the last minute or hour, and what helps",
        .run = run_hot,
    },
    {
        .words = "advise",
        .arguments = "TABLE",
        .help = "the indexes that would help the queries of a table, and the indexes that no call reads",
        .run = run_advise,
    },
};

const struct command_group commands_load = { "Load", commands, ARRAY_LEN(commands) };

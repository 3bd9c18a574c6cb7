/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_view.c - see the header.
 */
#include "client/hot_view.h"

#include <stdio.h>

#include "api/codec.h"
#include "tavola/v1/admin_service.pb-c.h"

static const char *pattern_of(const Tavola__V1__HotPartition *partition)
{
    return partition->pattern == TAVOLA__V1__HOT_PATTERN__HOT_PATTERN_UNSPECIFIED
               ? "-"
               : api_client_enum_name(&tavola__v1__hot_pattern__descriptor, (int)partition->pattern);
}

static void print_partition(const Tavola__V1__HotPartition *partition, bool with_remedy)
{
    printf("%-24.*s %-16s %9.1f %9.1f %5.0f%%  %.*s%s\n", STR_ARG(codec_str(partition->table)),
        pattern_of(partition), partition->reads_per_second, partition->writes_per_second,
        partition->share * 100, STR_ARG(codec_str(partition->partition_key)),
        partition->cut        ? "..."
        : partition->of_order ? " (and the partitions before it)"
                              : "");
    if (!with_remedy || partition->remedy.len == 0)
        return;
    if (partition->row_key.len > 0)
        printf("    entity   %.*s\n", STR_ARG(codec_str(partition->row_key)));
    printf("    remedy   %.*s\n    example  %.*s\n", STR_ARG(codec_str(partition->remedy)),
        STR_ARG(codec_str(partition->example)));
}

bool hot_view_print(struct api_client *client, bool is_hour, int limit, bool with_remedy)
{
    Tavola__V1__ListHotPartitionsRequest request = TAVOLA__V1__LIST_HOT_PARTITIONS_REQUEST__INIT;
    const Tavola__V1__ListHotPartitionsResponse *reply;

    request.span = is_hour ? TAVOLA__V1__HOT_SPAN__HOT_SPAN_HOUR : TAVOLA__V1__HOT_SPAN__HOT_SPAN_MINUTE;
    request.limit = limit;
    reply = api_client_call(client, "/tavola.v1.AdminService/ListHotPartitions", &request.base,
        &tavola__v1__list_hot_partitions_response__descriptor);
    if (!reply)
        return false;
    printf("%-24s %-16s %9s %9s %6s  %s\n", "table or index", "looks like", "reads/s", "writes/s", "share",
        "partition");
    for (size_t i = 0; i < reply->n_partitions; i++)
        print_partition(reply->partitions[i], with_remedy);
    return true;
}

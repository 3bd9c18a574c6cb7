/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_samples.c - see the header.
 */
#include "api/codec_samples.h"

#include "domain/account_id.h"
#include "domain/catalogue/table_name.h"
#include "domain/limits.h"
#include "domain/reason.h"

enum { DEFAULT_PARTITIONS = 20, US_PER_SECOND = 1000000 };

_Static_assert(
    (int)HOT_LOG_DATA == (int)TAVOLA__V1__HOT_PATTERN__HOT_PATTERN_LOG_DATA, "the numbers of the API");

static enum status decode_span(Tavola__V1__HotSpan span, enum sample_span *out, struct error *err)
{
    *out = span == TAVOLA__V1__HOT_SPAN__HOT_SPAN_HOUR ? SAMPLE_HOUR : SAMPLE_MINUTE;
    if ((int)span >= TAVOLA__V1__HOT_SPAN__HOT_SPAN_UNSPECIFIED &&
        span <= TAVOLA__V1__HOT_SPAN__HOT_SPAN_HOUR)
        return STATUS_OK;
    return reason_set(
        err, REASON_INVALID_INPUT, "span is %d: 1 (the last minute) or 2 (the last hour)", (int)span);
}

enum status codec_samples_request_decode(
    const Tavola__V1__ListHotPartitionsRequest *request, struct operation_samples *out, struct error *err)
{
    *out = (struct operation_samples){ .account = codec_str(request->account),
        .table = codec_str(request->table),
        .limit = request->limit == 0                ? DEFAULT_PARTITIONS
                 : request->limit > LIMIT_PAGE_ROWS ? LIMIT_PAGE_ROWS
                                                    : request->limit };
    TRY(decode_span(request->span, &out->span, err));
    if (request->limit < 0)
        return reason_set(err, REASON_INVALID_INPUT, "limit is %d, but must be 0 or more", request->limit);
    if (out->table.len == 0)
        return STATUS_OK;
    if (out->account.len == 0)
        return reason_set(
            err, REASON_INVALID_INPUT, "account is empty: a table is found by its account and its name");
    if (table_name_check(out->table, err) != STATUS_OK)
        return error_in_field(err, "table");
    return STATUS_OK;
}

/*
 * The rate of a count. The span counts as one second at least, so that a load that has just begun is not
 * exaggerated.
 */
static double per_second(int64_t count, int64_t span_us)
{
    return (double)count * US_PER_SECOND / (double)(span_us > US_PER_SECOND ? span_us : US_PER_SECOND);
}

static void write_partition(struct buf *out, const struct hot_partition *partition, int64_t span_us)
{
    Tavola__V1__HotPartition message = TAVOLA__V1__HOT_PARTITION__INIT;

    message.account = codec_bytes(account_id_name(partition->account));
    message.table = codec_bytes(partition->table);
    message.is_index = partition->is_index;
    message.partition_key = codec_bytes(partition->partition);
    message.cut = partition->is_cut;
    message.of_order = partition->is_order;
    message.reads_per_second = per_second(partition->reads, span_us);
    message.writes_per_second = per_second(partition->writes, span_us);
    message.share = partition->share;
    message.pattern = (Tavola__V1__HotPattern)partition->pattern;
    message.row_key = codec_bytes(partition->row);
    message.remedy = codec_bytes(str_of(partition->remedy));
    message.example = codec_bytes(partition->example);
    codec_pack(out, 1, &message.base);
}

void codec_samples_write(struct buf *out, const struct outcome_samples *samples, struct arena *arena)
{
    for (size_t i = 0; i < samples->count; i++)
        write_partition(out, &samples->partitions[i], samples->span_us);
    if (samples->span_us > 0)
        codec_pack(out, 2, &codec_duration(samples->span_us, arena)->base);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_lookup.c - see the header.
 *
 * The key of the index comes from the server's access snapshot. If another index has the name by the time the
 * look-up runs, the values of the filter are bound to the wrong properties. So the reply is made only if the index is
 * still the same.
 */
#include "service/odata/odata_lookup.h"

#include "api/codec.h"
#include "api/json/json_forms.h"
#include "base/digits.h"
#include "domain/catalogue/table_name.h"
#include "domain/indexes/query_lookup.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"
#include "service/consistency.h"
#include "service/odata/odata_call.h"
#include "service/odata/odata_query.h"
#include "service/paging.h"

enum { MS_PER_SECOND = 1000, NANOS_PER_MS = 1000000, US_PER_MS = 1000, MAX_STALENESS_S = 86400 };

static struct str header_of(const struct call_ctx *ctx, const char *name)
{
    return http_request_header(odata_call_request(ctx), name);
}

bool odata_lookup_is_asked(const struct call_ctx *ctx)
{
    return header_of(ctx, "x-tavola-index").len > 0 || header_of(ctx, "x-tavola-consistency-token").len > 0 ||
           header_of(ctx, "x-tavola-max-staleness-ms").len > 0 || header_of(ctx, "x-tavola-latest").len > 0;
}

/* ---- freshness ---- */

static enum status read_staleness(struct call_ctx *ctx, Google__Protobuf__Duration **out, struct error *err)
{
    struct str text = header_of(ctx, "x-tavola-max-staleness-ms");
    uint64_t ms;

    if (text.len == 0)
        return STATUS_OK;
    if (!digits_parse_unsigned(text, (uint64_t)MAX_STALENESS_S * MS_PER_SECOND, &ms) || ms == 0)
        return reason_set(err, REASON_INVALID_INPUT,
            "x-tavola-max-staleness-ms is a number of milliseconds, from 1 to a day's");
    *out = codec_duration((int64_t)ms * US_PER_MS, ctx->arena);
    return STATUS_OK;
}

static void read_tokens(struct call_ctx *ctx, Tavola__V1__Freshness *out)
{
    struct str text = header_of(ctx, "x-tavola-consistency-token");
    size_t max = 1;

    for (size_t i = 0; i < text.len; i++)
        max += text.data[i] == ',';
    out->at_least = ARENA_ARRAY(ctx->arena, ProtobufCBinaryData, max);
    while (text.len > 0)
        out->at_least[out->n_at_least++] = codec_bytes(str_trim(str_take(&text, ','), " "));
}

static enum status read_freshness(struct call_ctx *ctx, struct freshness *out, struct error *err)
{
    struct str latest = header_of(ctx, "x-tavola-latest");
    Tavola__V1__Freshness message = TAVOLA__V1__FRESHNESS__INIT;

    read_tokens(ctx, &message);
    TRY(read_staleness(ctx, &message.max_staleness, err));
    message.latest = str_equal(latest, STR_LITERAL("true"));
    if (latest.len > 0 && !message.latest)
        return reason_set(err, REASON_INVALID_INPUT, "x-tavola-latest must be true, or be left out");
    return consistency_read(ctx->service, &message, ctx->arena, out, err);
}

/* ---- the index ---- */

/*
 * Whether the caller may look up in indexes of the table. caller_authorize refuses all others without a word on which
 * indexes there are, so nothing is said here either.
 */
static bool may_look_up(const struct access *access, struct str table)
{
    const unsigned needed = PERMISSION_READ | PERMISSION_LOOK_UP;

    return access->whole_account ||
           (!access->resources && !key_range_is_bounded(&access->range) &&
               (access->permissions & needed) == needed && table_name_is(table, access->table));
}

/* Between authenticator_enter and authenticator_leave. */
static enum status find_index(struct call_ctx *ctx, const struct operation *query, struct str table,
    const struct index **out, struct error *err)
{
    const struct access_snapshot *snapshot = ctx->service->authenticator.snapshot;
    const struct table *entries;

    if (!snapshot)
        return reason_set(
            err, REASON_STORE_UNAVAILABLE, "the server has not been able to read the catalogue yet");
    entries = catalogue_find(snapshot->catalogue, ctx->account, query->table);
    *out = entries ? entries->entries_of : NULL;
    if (*out && table_name_is(table, table_name_fold((*out)->source_name, ctx->arena)))
        return STATUS_OK;
    return reason_set(
        err, REASON_INDEX_NOT_FOUND, "table %.*s has no index %.*s", STR_ARG(table), STR_ARG(query->table));
}

static enum status plan_lookup(
    struct call_ctx *ctx, struct operation *out, struct str table, struct error *err)
{
    struct authenticator *authenticator = &ctx->service->authenticator;
    struct odata_call *call = odata_call_of(ctx);
    const struct index *index = NULL;
    enum status status;

    if (!may_look_up(&ctx->caller.access, table))
        return STATUS_OK;
    authenticator_enter(authenticator);
    status = find_index(ctx, out, table, &index, err);
    if (status == STATUS_OK)
        status = query_lookup_plan(call->filter, index, ctx->arena, &out->in.lookup, err);
    if (status == STATUS_OK)
        call->index_id = index->index_id;
    authenticator_leave(authenticator);
    return status;
}

/* ---- the request ---- */

static struct token token_of(struct call_ctx *ctx)
{
    const struct odata_options *options = &odata_call_of(ctx)->target.options;

    return (struct token){
        .purpose = TOKEN_LOOKUP,
        .query = arena_format(ctx->arena, "odata %.*s filter %.*s select %.*s",
            STR_ARG(header_of(ctx, "x-tavola-index")), STR_ARG(options->filter), STR_ARG(options->select)),
    };
}

static enum status read_position(struct call_ctx *ctx, struct operation_lookup *lookup, struct error *err)
{
    struct str text = odata_call_of(ctx)->target.options.next_partition_key;
    struct token token = token_of(ctx);
    bool has_after;

    TRY(paging_read(ctx, codec_bytes(text), &token, &has_after, err));
    lookup->has_after = has_after;
    if (has_after)
        lookup->after = (struct entity_key){ .partition = token.first, .row = token.second };
    return STATUS_OK;
}

/* Of a wide entity only these properties are read: those of the reply, and those that the filter tests. */
static void select_properties(struct call_ctx *ctx, struct operation_lookup *lookup)
{
    const struct odata_call *call = odata_call_of(ctx);
    const struct odata_selection *selection = &call->view.selection;
    const struct str *tested;
    size_t count = filter_names(call->filter, ctx->arena, &tested);

    if (!selection->names)
        return;
    lookup->select = ARENA_ARRAY(ctx->arena, struct str, selection->count + count);
    for (size_t i = 0; i < selection->count; i++)
        lookup->select[lookup->select_count++] = selection->names[i];
    for (size_t i = 0; i < count; i++)
        lookup->select[lookup->select_count++] = tested[i];
}

enum status odata_lookup_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    struct odata_call *call = odata_call_of(ctx);
    struct str table = out->table, name = header_of(ctx, "x-tavola-index");
    enum access_path max_plan = 0;

    out->kind = OPERATION_LOOKUP;
    if (name.len == 0)
        return reason_set(err, REASON_INVALID_INPUT,
            "x-tavola-consistency-token, x-tavola-max-staleness-ms and x-tavola-latest need x-tavola-index: "
            "other "
            "queries read the table itself, which is never behind");
    if (table_name_check(name, NULL) != STATUS_OK)
        return reason_set(
            err, REASON_INDEX_NOT_FOUND, "no index can have the name that x-tavola-index gives");
    out->table = name;
    TRY(odata_query_max_plan(ctx, &max_plan, err));
    if (max_plan != 0 && max_plan < ACCESS_INDEX_LOOKUP)
        return reason_set(err, REASON_PLAN_TOO_EXPENSIVE,
            "the query would take the path INDEX_LOOKUP, x-tavola-max-plan allows %s at most",
            access_path_name(max_plan));
    TRY(odata_query_top(ctx, &out->in.lookup.limit, err));
    TRY(filter_compile(call->target.options.filter, ctx->arena, &call->filter, err));
    select_properties(ctx, &out->in.lookup);
    TRY(read_freshness(ctx, &out->in.lookup.freshness, err));
    TRY(plan_lookup(ctx, out, table, err));
    return read_position(ctx, &out->in.lookup, err);
}

/* ---- the reply ---- */

static void add_lag(struct call_ctx *ctx, const struct lag *lag)
{
    struct buf time;
    int64_t seconds;
    int32_t nanos;

    odata_call_add_header(ctx, "x-tavola-lag-ms",
        arena_format(ctx->arena, "%lld", (long long)(lag->age_us > 0 ? lag->age_us / US_PER_MS : 0)));
    ticks_to_timestamp(lag->as_of, &seconds, &nanos);
    buf_init(&time, ctx->arena);
    if (lag->as_of == 0 || !json_forms_write_timestamp(&time, seconds, nanos))
        return;
    odata_call_add_header(ctx, "x-tavola-as-of", buf_str(&time));
}

/* Write what matches, up to LIMIT_REPLY_BYTES. Returns the number of entities that were looked at. */
static size_t write_matches(struct call_ctx *ctx, const struct outcome_lookup *page, struct buf *reply)
{
    struct odata_call *call = odata_call_of(ctx);
    struct odata_list list;
    size_t i = 0;

    odata_list_begin(&list, &call->view, reply);
    for (; i < page->count && !call->is_empty && (i == 0 || reply->len < LIMIT_REPLY_BYTES); i++)
        if (filter_matches(call->filter, &page->entities[i]))
            odata_list_add_entity(&list, &page->entities[i]);
    odata_list_end(&list);
    return i;
}

static enum status add_continuation(struct call_ctx *ctx, const struct outcome_lookup *page,
    const struct entity_key *position, struct error *err)
{
    struct token token = token_of(ctx);
    struct str text;

    token.table_id = page->table_id;
    token.first = position->partition;
    token.second = position->row;
    TRY(paging_make(ctx, &token, &text, err));
    odata_call_add_header(ctx, "x-ms-continuation-NextPartitionKey", text);
    return STATUS_OK;
}

enum status odata_lookup_encode(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_lookup *page = &operation->out.lookup;
    struct odata_call *call = odata_call_of(ctx);
    size_t seen;

    if (page->table_id != call->index_id)
        return reason_set(err, REASON_INDEX_NOT_FOUND,
            "the index %.*s has been replaced while it was read: send the query again",
            STR_ARG(operation->table));
    TRY(paging_check_table(ctx, page->table_id, err));
    seen = write_matches(ctx, page, reply);
    odata_call_begin_reply(ctx->http, 200);
    odata_call_add_json_headers(ctx->http, odata_format_content_type(call->view.level));
    odata_query_add_stats(ctx, &page->stats);
    add_lag(ctx, &page->lag);
    if (call->is_empty)
        return STATUS_OK;
    if (seen < page->count)
        return add_continuation(ctx, page, &page->entries[seen - 1], err);
    return page->more ? add_continuation(ctx, page, &page->position, err) : STATUS_OK;
}

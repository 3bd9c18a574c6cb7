/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_table.c - see the header.
 */
#include "api/codec_table.h"

#include "api/codec_error.h"
#include "domain/access/access.h"
#include "domain/filter/filter.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"

enum status codec_table_filter_decode(
    ProtobufCBinaryData text, struct arena *arena, const struct filter **out, struct error *err)
{
    const struct filter *filter;

    if (filter_compile(codec_str(text), arena, &filter, err) != STATUS_OK ||
        filter_check_only(filter, "TableName", err) != STATUS_OK)
        return error_in_field(err, "filter");
    *out = filter;
    return STATUS_OK;
}

static Tavola__V1__AccessPolicy *policy_message(const struct access_policy *policy, struct arena *arena)
{
    Tavola__V1__AccessPolicy *out = ARENA_NEW(arena, Tavola__V1__AccessPolicy);

    tavola__v1__access_policy__init(out);
    out->id = codec_bytes(policy->id);
    out->start = policy->start ? codec_timestamp(policy->start, arena) : NULL;
    out->expiry = policy->expiry ? codec_timestamp(policy->expiry, arena) : NULL;
    out->permissions = codec_bytes(access_format_permissions(policy->permissions, arena));
    return out;
}

static Tavola__V1__TablePeriods *periods_message(const struct table_periods *periods, struct arena *arena)
{
    Tavola__V1__TablePeriods *out;

    if (periods->unit == PERIOD_NONE)
        return NULL;
    out = ARENA_NEW(arena, Tavola__V1__TablePeriods);
    tavola__v1__table_periods__init(out);
    out->unit = (Tavola__V1__PeriodUnit)periods->unit;
    out->ahead = periods->ahead;
    out->kept = periods->kept;
    return out;
}

Tavola__V1__Table *codec_table_message(const struct table_view *table, struct arena *arena)
{
    Tavola__V1__Table *out = ARENA_NEW(arena, Tavola__V1__Table);

    tavola__v1__table__init(out);
    out->name = codec_bytes(table->name);
    out->created = codec_timestamp(table->created, arena);
    out->index = codec_bytes(table->index);
    out->n_policies = table->policies.count;
    out->policies = ARENA_ARRAY(arena, Tavola__V1__AccessPolicy *, out->n_policies);
    for (size_t i = 0; i < out->n_policies; i++)
        out->policies[i] = policy_message(&table->policies.items[i], arena);
    out->default_max_plan = (Tavola__V1__AccessPath)table->default_max_plan;
    out->change_feed = table->change_feed;
    out->sample_queries = table->samples_queries;
    out->periods = periods_message(&table->periods, arena);
    out->blob_properties = table->blob_properties;
    out->wide_entities = table->is_wide;
    return out;
}

/* ---- changes ---- */

static enum status set_default_max_plan(
    const Tavola__V1__Table *table, struct arena *arena, struct table_change *out, struct error *err)
{
    (void)arena;
    if ((uint32_t)table->default_max_plan > ACCESS_TABLE_SCAN)
        return reason_set(err, REASON_INVALID_INPUT, "table.default_max_plan is not an access path");
    out->sets_default_max_plan = true;
    out->default_max_plan = (enum access_path)table->default_max_plan;
    return STATUS_OK;
}

static bool has_default_max_plan(const Tavola__V1__Table *table)
{
    return table->default_max_plan != TAVOLA__V1__ACCESS_PATH__ACCESS_PATH_UNSPECIFIED;
}

/* A time in ticks; 0 if the message has none. */
static enum status policy_time(const Google__Protobuf__Timestamp *time, int64_t *out, struct error *err)
{
    *out = 0;
    if (!time || (ticks_from_timestamp(time->seconds, time->nanos, out) && *out > 0))
        return STATUS_OK;
    return reason_set(err, REASON_OUT_OF_RANGE_INPUT,
        "a time of a stored access policy lies outside the years 1601 to 9999");
}

static enum status policy_decode(
    const Tavola__V1__AccessPolicy *policy, struct access_policy *out, struct error *err)
{
    out->id = codec_str(policy->id);
    TRY(policy_time(policy->start, &out->start, err));
    TRY(policy_time(policy->expiry, &out->expiry, err));
    if (!access_parse_permissions(codec_str(policy->permissions), &out->permissions))
        return reason_set(err, REASON_INVALID_INPUT,
            "the permissions of a stored access policy must be letters of \"raudit\", in this order");
    return STATUS_OK;
}

static enum status set_policies(
    const Tavola__V1__Table *table, struct arena *arena, struct table_change *out, struct error *err)
{
    struct access_policies policies = { .count = table->n_policies };

    policies.items = ARENA_ARRAY(arena, struct access_policy, policies.count);
    for (size_t i = 0; i < policies.count; i++)
        TRY(policy_decode(table->policies[i], &policies.items[i], err));
    TRY(access_policies_check(&policies, err));
    out->sets_policies = true;
    out->policies = access_policies_encode(&policies, arena);
    return STATUS_OK;
}

static bool has_policies(const Tavola__V1__Table *table)
{
    return table->n_policies > 0;
}

static enum status set_change_feed(
    const Tavola__V1__Table *table, struct arena *arena, struct table_change *out, struct error *err)
{
    (void)arena;
    (void)err;
    out->sets_change_feed = true;
    out->change_feed = table->change_feed;
    return STATUS_OK;
}

static bool has_change_feed(const Tavola__V1__Table *table)
{
    return table->change_feed;
}

static enum status set_sample_queries(
    const Tavola__V1__Table *table, struct arena *arena, struct table_change *out, struct error *err)
{
    (void)arena;
    (void)err;
    out->sets_sample_queries = true;
    out->samples_queries = table->sample_queries;
    return STATUS_OK;
}

static bool has_sample_queries(const Tavola__V1__Table *table)
{
    return table->sample_queries;
}

/* A number of the request as it is stored; one that is out of range becomes 0, which is out of range too. */
static int16_t small_number(int32_t number)
{
    return number >= 0 && number <= INT16_MAX ? (int16_t)number : 0;
}

/* An absent message ends the rule. */
static enum status set_periods(
    const Tavola__V1__Table *table, struct arena *arena, struct table_change *out, struct error *err)
{
    (void)arena;
    out->sets_periods = true;
    out->periods = (struct table_periods){ 0 };
    if (!table->periods)
        return STATUS_OK;
    out->periods = (struct table_periods){ .unit = (enum period_unit)table->periods->unit,
        .ahead = small_number(table->periods->ahead),
        .kept = small_number(table->periods->kept) };
    return table_periods_check(&out->periods, codec_str(table->name), err);
}

static bool has_periods(const Tavola__V1__Table *table)
{
    return table->periods != NULL;
}

static enum status set_blob_properties(
    const Tavola__V1__Table *table, struct arena *arena, struct table_change *out, struct error *err)
{
    (void)arena;
    (void)err;
    out->sets_blob_properties = true;
    out->blob_properties = table->blob_properties;
    return STATUS_OK;
}

static bool has_blob_properties(const Tavola__V1__Table *table)
{
    return table->blob_properties;
}

/* The fields of a table that UpdateTable can change. */
static const struct setting {
    const char *path;
    bool (*is_set)(const Tavola__V1__Table *table);
    enum status (*change)(
        const Tavola__V1__Table *table, struct arena *arena, struct table_change *out, struct error *err);
} settings[] = {
    { "default_max_plan", has_default_max_plan, set_default_max_plan },
    { "policies", has_policies, set_policies },
    { "change_feed", has_change_feed, set_change_feed },
    { "sample_queries", has_sample_queries, set_sample_queries },
    { "periods", has_periods, set_periods },
    { "blob_properties", has_blob_properties, set_blob_properties },
};

static struct str setting_names(struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        buf_format(&out, "%s%s", i ? ", " : "", settings[i].path);
    return buf_str(&out);
}

static enum status change_path(struct str path, const Tavola__V1__Table *table, struct arena *arena,
    struct table_change *out, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        if (str_equal(path, str_of(settings[i].path)))
            return settings[i].change(table, arena, out, err);
    (void)reason_set(
        err, REASON_INVALID_INPUT, "update_mask names a field that is unknown or cannot be changed");
    error_add_meta(err, "actual", path);
    error_add_meta(err, "allowed", setting_names(arena));
    return STATUS_INVALID;
}

enum status codec_table_change_decode(const Tavola__V1__UpdateTableRequest *request, struct arena *arena,
    struct table_change *out, struct error *err)
{
    const Google__Protobuf__FieldMask *mask = request->update_mask;
    const Tavola__V1__Table *table = request->table;
    bool is_masked = mask && mask->n_paths > 0;
    bool changes = is_masked;

    if (!table)
        return codec_missing(err, "table", "the name of the table and the fields to change");
    *out = (struct table_change){ 0 };
    for (size_t i = 0; is_masked && i < mask->n_paths; i++)
        TRY(change_path(codec_str(mask->paths[i]), table, arena, out, err));
    for (size_t i = 0; !is_masked && i < ARRAY_LEN(settings); i++)
        if (settings[i].is_set(table)) {
            TRY(settings[i].change(table, arena, out, err));
            changes = true;
        }
    return changes ? STATUS_OK : codec_missing(err, "update_mask", "the fields to change");
}

static Tavola__V1__Error *run_error(const struct job_view *run, struct arena *arena)
{
    Tavola__V1__Error *out;

    if (run->state != JOB_FAILED && run->error.len == 0)
        return NULL;
    out = ARENA_NEW(arena, Tavola__V1__Error);
    tavola__v1__error__init(out);
    out->code = codec_error_status_code(STATUS_INTERNAL);
    out->reason = codec_bytes(str_of(reason_info(REASON_INTERNAL_ERROR)->name));
    out->message = codec_bytes(codec_text(run->error, arena));
    return out;
}

Tavola__V1__Operation *codec_table_job_message(const struct job_view *run, struct arena *arena)
{
    Tavola__V1__Operation *out = ARENA_NEW(arena, Tavola__V1__Operation);

    tavola__v1__operation__init(out);
    out->operation_id = codec_bytes(run->operation_id);
    out->kind = codec_bytes(run->kind);
    out->target = codec_bytes(run->target);
    out->state = (Tavola__V1__OperationState)run->state;
    out->done = run->done;
    out->total = run->total;
    out->started = codec_timestamp(run->started, arena);
    out->ended = codec_timestamp(run->ended, arena);
    out->error = run_error(run, arena);
    return out;
}

enum status codec_table_check_operation_id(struct str id, struct error *err)
{
    bool good = id.len > 0 && id.len <= LIMIT_TRANSACTION_ID_BYTES;

    for (size_t i = 0; good && i < id.len; i++)
        good = id.data[i] > ' ' && id.data[i] <= '~';
    if (!good)
        return reason_set(err, REASON_OPERATION_NOT_FOUND,
            "there is no such operation: an operation id has 1 to 128 printable ASCII characters without "
            "spaces");
    return STATUS_OK;
}

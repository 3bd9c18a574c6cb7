/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_read.c - see the header.
 */
#include "store/indexes/lookup_read.h"

#include "base/clock.h"
#include "domain/indexes/lookup_plan.h"
#include "domain/limits.h"
#include "domain/operations/operation_times.h"
#include "domain/reason.h"
#include "store/entities/read_batch.h"
#include "store/indexes/lookup_latest.h"
#include "store/intents/freshness.h"
#include "store/intents/lag.h"
#include "store/queries/collect.h"
#include "store/queries/lookup_hits.h"
#include "store/session/attempt.h"
#include "store/session/resolve.h"
#include "store/sql.h"

/* ---- entries ---- */

/* Which entries a page may have. */
struct wanted {
    const struct lookup_range *range;
    const struct open_sources *open; /* entries of these source keys are ignored; may be empty */
};

static bool holds(const void *context, const struct entity *entry)
{
    const struct wanted *wanted = context;

    return (!wanted->range->others || lookup_range_holds(wanted->range, &entry->key)) &&
           !lookup_latest_covers(wanted->open, entry);
}

static enum status read_entries(struct session *session, const struct index *index,
    const struct lookup_range *range, const struct open_sources *open, struct operation *operation,
    struct error *err)
{
    const struct wanted wanted = { range, open };
    const struct operation_lookup *in = &operation->in.lookup;
    struct outcome_lookup *out = &operation->out.lookup;
    bool several = range->count > 1;
    struct row_scan scan = {
        .table = catalogue_find_id(session->catalogue, index->index_id),
        .plan.range = range->count == 1 ? range->keys[0] : (struct key_filter){ .nothing = !several },
        .ranges = several ? range->keys : NULL,
        .range_count = several ? range->count : 0,
        .descending = in->descending,
        .has_after = in->has_after,
        .after = in->after,
        .max_rows = LIMIT_PAGE_EXAMINED,
        .max_bytes = LIMIT_PAGE_EXAMINED_BYTES,
        .arena = operation->arena,
    };
    struct entity_list list;
    const struct collection collection = {
        .scan = &scan,
        .is_wanted = range->others || open->count > 0 ? holds : NULL,
        .context = &wanted,
        .sink = &list.sink,
        .limit = in->limit,
    };
    int64_t count;

    collect_list_init(&list, (size_t)in->limit, operation->arena);
    TRY(collect_entities(session, &collection, &count, err));
    out->entities = list.entities;
    out->count = list.count;
    out->more = !scan.exhausted;
    out->position = scan.after;
    out->stats.rows_examined = scan.rows_examined;
    out->stats.bytes_examined = scan.bytes_examined;
    return STATUS_OK;
}

/* ---- from entries to sources ---- */

/* Read the sources: in the snapshot in which the entries were read, if one is open. */
static enum status read_sources(struct session *session, struct operation *sources, struct error *err)
{
    if (session_in_snapshot(session))
        TRY(read_batch_within(session, sources, err));
    else
        read_batch_run(session, sources, NULL);
    if (sources->status == STATUS_OK)
        return STATUS_OK;
    *err = *sources->error;
    return sources->status;
}

/* Make the entries the entities that they stand for. */
static enum status name_sources(const struct index *index, struct operation *operation, struct error *err)
{
    if (lookup_hits_name(index, operation))
        return STATUS_OK;
    return error_set(err, STATUS_INTERNAL,
        "an entry of index %.*s does not name its source: verify the index", STR_ARG(index->name));
}

static enum status check_sources(
    struct session *session, const struct index *index, struct operation *operation, struct error *err)
{
    struct outcome_lookup *out = &operation->out.lookup;
    struct operation sources;

    if (out->count == 0)
        return STATUS_OK;
    lookup_hits_ask(index, catalogue_has_wide_source(session->catalogue, index), operation, &sources);
    TRY(read_sources(session, &sources, err));
    /* The read may have reloaded the catalogue and freed the index. */
    TRY(resolve_index(session, operation, &index, err));
    if (index->index_id != out->table_id)
        return error_set(err, STATUS_STALE, "the index has been built anew");
    lookup_hits_replace(index, &sources, operation);
    return STATUS_OK;
}

/*
 * Whether an eventual index has replaced the one that was strong when the read began, for which the
 * read has not waited (guard G43).
 */
static bool was_replaced(const struct session *session, const struct operation *operation)
{
    const struct table *entries = catalogue_find(session->catalogue, operation->account, operation->table);

    return operation->in.lookup.freshness.was_strong && entries && entries->entries_of &&
           !index_is_strong(entries->entries_of);
}

/*
 * The freshness that the read has waited for was observed on another connection. If this connection
 * is newer, its database may have crashed meanwhile and lost the last reconciles (guard G19), so
 * the question is asked again.
 */
static enum status check_fresh(struct session *session, struct operation *operation, struct error *err)
{
    int64_t fresh_us = operation_times_fresh_us(operation), now_us = clock_monotonic_us();
    struct freshness_wait wait = { .operation = operation };

    if (fresh_us == 0 || (session->pg.connected_us <= fresh_us && !was_replaced(session, operation)))
        return STATUS_OK;
    TRY(freshness_ask(session, &wait, 1, err));
    if (wait.answer != FRESHNESS_NOW)
        return reason_set(err, REASON_STORE_UNAVAILABLE,
            "the connection to the database was lost, or the index replaced, and since then: %s",
            wait.err.message);
    operation_times_set_fresh(operation, now_us);
    return STATUS_OK;
}

/* Whether entries of sources without open work stand for their entities. */
static bool may_stand(const struct index *index, const struct operation_lookup *in)
{
    return index->keeps_versions && !in->read_sources;
}

/*
 * Open the snapshot that the look-up needs: entries and sources of a strong index are written in
 * one commit, and so are entries of an eventual one and the removal of its intents. *checks:
 * whether the sources must be read.
 */
static enum status begin_reading(struct session *session, const struct index *index,
    struct operation *operation, struct open_sources *open, bool *checks, struct error *err)
{
    const struct operation_lookup *in = &operation->in.lookup;

    *checks = !in->trust_index && !may_stand(index, in);
    if (index_is_strong(index))
        return *checks ? session_begin_snapshot(session, err) : STATUS_OK;
    if (in->freshness.latest)
        return lookup_latest_begin(session, index, operation->arena, open, err);
    if (in->trust_index || *checks)
        return STATUS_OK;
    TRY(session_begin_snapshot(session, err));
    return lookup_latest_is_behind(session, index, checks, err);
}

/* If the lag of all tables is too large for the read, that of its own index has let it through, and is the answer's. */
static enum status read_lag(
    struct session *session, const struct index *index, struct operation *operation, struct error *err)
{
    const struct freshness *freshness = &operation->in.lookup.freshness;
    struct lag *lag = &operation->out.lookup.lag, own;
    const struct operation *asked = operation;
    struct lag_seen seen;

    TRY(lag_read(session, &seen, err));
    *lag = index_is_strong(index) ? seen.strong : seen.behind;
    if (freshness_is_recent(freshness, lag))
        return STATUS_OK;
    TRY(lag_of_indexes(session, &asked, 1, &own, err));
    if (own.as_of > lag->as_of)
        *lag = own;
    return STATUS_OK;
}

static enum status look_up(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_lookup *in = &operation->in.lookup;
    struct outcome_lookup *out = &operation->out.lookup;
    struct open_sources open = { 0 };
    const struct index *index;
    struct lookup_range range;
    bool checks;

    TRY(check_fresh(session, operation, err));
    TRY(lookup_hits_resolve(session, operation, &index, err));
    TRY(lookup_plan(index, in, operation->arena, &range, err));
    *out = (struct outcome_lookup){ .table_id = index->index_id };
    out->stats.access_path = ACCESS_INDEX_LOOKUP;
    /*
     * Guard G22: the watermark is read before the entries, so the entries have all work that it
     * covers.
     */
    TRY(read_lag(session, index, operation, err));
    TRY(begin_reading(session, index, operation, &open, &checks, err));
    TRY(read_entries(session, index, &range, &open, operation, err));
    if (in->freshness.latest && !index_is_strong(index)) /* which has all entries at any time */
        TRY(lookup_latest_merge(session, index, &range, &open, operation, err));
    TRY(name_sources(index, operation, err));
    if (checks)
        TRY(check_sources(session, index, operation, err));
    out->stats.rows_returned = (int64_t)out->count;
    return STATUS_OK;
}

void lookup_read_run(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, look_up);
}

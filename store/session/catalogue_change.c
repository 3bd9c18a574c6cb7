/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_change.c - see the header.
 */
#include "store/session/catalogue_change.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"
#include "store/session/fence.h"
#include "store/sql.h"

enum status catalogue_change_begin(struct session *session, struct error *err)
{
    PG_RESULT version = NULL;

    TRY(fence_close(session, err));
    session->asked_us = clock_monotonic_us();
    /*
     * A table may be created without the fence, so lock the catalogue's row, which every change
     * locks.
     */
    TRY(pg_query(&session->pg, &sql_catalogue_lock, NULL, &version, err));
    if (pg_int8(version, 0, PG_ONLY_COLUMN) != session->catalogue->version)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    return STATUS_OK;
}

/* The number of the account's tables or indexes, counted up to one more than the limit. */
static enum status count_of(struct session *session, const struct embedded *sql, struct str account,
    int64_t limit, int64_t *out, struct error *err)
{
    struct pg_params params;
    PG_RESULT row = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, account);
    pg_add_int8(&params, limit + 1);
    TRY(pg_query(&session->pg, sql, &params, &row, err));
    *out = pg_int8(row, 0, PG_ONLY_COLUMN);
    return STATUS_OK;
}

static enum status refuse_one_more(const char *what, int64_t actual, int64_t limit, struct error *err)
{
    reason_set(err, REASON_QUOTA_EXCEEDED, "the account has %lld %s, allowed are %lld", (long long)actual,
        what, (long long)limit);
    error_add_meta(err, "what", str_of(what));
    error_add_meta_int(err, "limit", limit);
    error_add_meta_int(err, "actual", actual);
    return err->status;
}

int64_t catalogue_change_max_indexes(const struct session *session)
{
    return session->quotas.indexes ? session->quotas.indexes : LIMIT_ACCOUNT_INDEXES;
}

int64_t catalogue_change_max_tables(const struct session *session)
{
    return session->quotas.tables ? session->quotas.tables : LIMIT_ACCOUNT_TABLES;
}

enum status catalogue_change_admit_index(struct session *session, struct str account, struct error *err)
{
    int64_t limit = catalogue_change_max_indexes(session), count;

    TRY(count_of(session, &sql_account_indexes, account, limit, &count, err));
    return count < limit ? STATUS_OK : refuse_one_more("indexes", count, limit, err);
}

enum status catalogue_change_admit_table(struct session *session, struct str account, struct error *err)
{
    int64_t limit = catalogue_change_max_tables(session), count;

    TRY(count_of(session, &sql_account_tables, account, limit, &count, err));
    return count <= limit ? STATUS_OK : refuse_one_more("tables", count - 1, limit, err);
}

enum status catalogue_change_commit(struct session *session, int64_t changed, struct error *err)
{
    TRY(catalogue_load_send_bump(&session->pg, changed, err));
    FAILPOINT_TRY("catalogue.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("catalogue.after_commit");
    return STATUS_OK;
}

/*
 * A signature has the time of its signer's clock, and a deletion the time of another server's
 * clock. Either may differ by the allowance.
 */
enum status catalogue_change_send_table_made(struct session *session, int64_t table_id, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, table_id);
    pg_add_int8(&params, 2 * LIMIT_CLOCK_SKEW_S * TICKS_PER_SECOND);
    return pg_send(&session->pg, &sql_table_signatures_from, &params, err);
}

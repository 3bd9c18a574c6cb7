/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence.c - see the header.
 */
#include "store/session/fence.h"

#include "base/clock.h"
#include "base/random.h"
#include "domain/intents/backoff.h"
#include "domain/reason.h"
#include "store/connection/stalled_sessions.h"
#include "store/sql.h"

static const struct backoff pause_us = { .first = 100000, .longest = 2000000 };

static enum status attempt(struct pg *pg, struct error *err)
{
    TRY(pg_send(pg, &sql_begin, NULL, err));
    TRY(pg_send(pg, &sql_fence_timeout, NULL, err));
    TRY(pg_send(pg, &sql_fence_close, NULL, err));
    TRY(pg_sync(pg, err));
    return pg_end(pg, err);
}

static void pause_after(int32_t failures)
{
    clock_sleep(backoff_pause(&pause_us, failures, random_bits()));
}

enum holder_column { HOLDER_PROGRAM, HOLDER_STATE, HOLDER_EVENT, HOLDER_MS };

/*
 * The message names the holder: "tavolad write (active, ClientWrite), open for 129.0 s". The holder
 * may have ended since the attempt.
 */
static enum status refuse_blocked(struct pg *pg, struct error *err)
{
    PG_RESULT rows = NULL;
    const char *event;

    TRY(pg_query(pg, &sql_fence_holder, NULL, &rows, err));
    if (PQntuples(rows) == 0)
        return reason_set(err, REASON_CATALOGUE_CHANGE_BLOCKED,
            "the change waits until every open write has ended; they kept overlapping");
    event = PQgetvalue(rows, 0, HOLDER_EVENT);
    return reason_set(err, REASON_CATALOGUE_CHANGE_BLOCKED,
        "the change waits until every open write has ended, and this session keeps one open: %.60s "
        "(%.40s%s%.40s), for %.1f s",
        PQgetvalue(rows, 0, HOLDER_PROGRAM), PQgetvalue(rows, 0, HOLDER_STATE), *event ? ", " : "", event,
        (double)pg_int8(rows, 0, HOLDER_MS) / 1000);
}

enum status fence_close(struct session *session, struct error *err)
{
    int64_t deadline_us = clock_monotonic_us() + session->fence_limit_us;
    struct pg *pg = &session->pg;

    for (int32_t failures = 1;; failures++) {
        struct error failure = { 0 };
        struct stalled_sessions ended;
        enum status status = attempt(pg, &failure);

        if (status == STATUS_OK)
            return STATUS_OK;
        pg_recover(pg);
        if (!pg_is_open(pg) || !pg_is_lock_timeout(&failure)) {
            if (err)
                *err = failure;
            return status;
        }
        TRY(stalled_sessions_end(pg, session->stalled_ms, &ended, err));
        if (ended.count > 0)
            continue;
        if (clock_monotonic_us() > deadline_us)
            return refuse_blocked(pg, err);
        pause_after(failures);
    }
}

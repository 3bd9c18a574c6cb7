/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoch.c - see the header.
 */
#include "store/session/epoch.h"

#include "base/random.h"
#include "store/connection/remembered.h"
#include "store/session/catalogue_change.h"
#include "store/sql.h"

enum { MAX_ATTEMPTS = 5 };

enum column { IS_SAME, SYSTEM_ID, TIMELINE, EPOCH, INSERT_LSN, FLUSH_LSN, KEY };

/* The history of the database, as one statement has read it. */
struct history_reading {
    bool is_same;       /* the database's system and timeline are those of the catalogue */
    struct history now; /* its lsn: where the next log record goes */
    int64_t flush_lsn;
    bool has_key;
    struct token_key key;
};

static enum status read_epoch(struct session *session, struct history_reading *out, struct error *err)
{
    PG_RESULT result = NULL;

    TRY(pg_query(&session->pg, &sql_epoch_check, NULL, &result, err));
    *out = (struct history_reading){ .is_same = pg_bool(result, 0, IS_SAME),
        .now = { pg_int8(result, 0, SYSTEM_ID), pg_int8(result, 0, TIMELINE), pg_int8(result, 0, EPOCH),
            pg_int8(result, 0, INSERT_LSN) },
        .flush_lsn = pg_int8(result, 0, FLUSH_LSN) };
    out->has_key = PQgetlength(result, 0, KEY) >= (int)sizeof(out->key.bytes);
    if (out->has_key)
        memcpy(out->key.bytes, PQgetvalue(result, 0, KEY), sizeof(out->key.bytes));
    return STATUS_OK;
}

static enum status raise_epoch(struct session *session, int64_t highest, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, highest);
    TRY(catalogue_change_begin(session, err));
    TRY(pg_send(&session->pg, &sql_epoch_raise, &params, err));
    return catalogue_change_commit(session, CHANGED_NO_FAMILY, err);
}

/*
 * Try to raise the epoch. *raised is false if another session has changed the catalogue meanwhile,
 * perhaps for the same reason; the session's catalogue is current again.
 */
static enum status try_to_raise(struct session *session, int64_t highest, bool *raised, struct error *err)
{
    enum status status = raise_epoch(session, highest, err);

    if (status != STATUS_OK)
        pg_recover(&session->pg);
    if (status != STATUS_OK && status != STATUS_STALE)
        return status;
    *raised = status == STATUS_OK;
    return session_reload(session, err);
}

static struct history remembered_history(const struct session *session, const struct history_reading *found)
{
    if (!session->remembered || !found->has_key)
        return (struct history){ .system_id = 0 };
    return remembered_judge(session->remembered, &found->key);
}

/*
 * Read the history, and compare it with what is remembered. Another thread may have remembered a
 * later state while this one waited for its answer, so only a reading that begins after the memory
 * was read can prove that something was lost.
 */
static enum status compare_history(struct session *session, struct history_reading *found,
    struct history *remembered, bool *put_back, struct error *err)
{
    TRY(read_epoch(session, found, err));
    *remembered = remembered_history(session, found);
    *put_back = history_was_put_back(remembered, &found->now);
    if (!*put_back)
        return STATUS_OK;
    TRY(read_epoch(session, found, err));
    *put_back = history_was_put_back(remembered, &found->now);
    return STATUS_OK;
}

static void confirm(const struct session *session, const struct history_reading *found, bool raised)
{
    struct history seen = found->now;

    if (!session->remembered || !found->has_key)
        return;
    seen.lsn = found->flush_lsn;
    remembered_confirm(session->remembered, &seen);
    if (raised)
        remembered_raised(session->remembered, seen.epoch);
}

enum status epoch_ensure(struct session *session, struct error *err)
{
    bool raised = false;

    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        struct history remembered;
        struct history_reading found;
        bool put_back;

        TRY(compare_history(session, &found, &remembered, &put_back, err));
        if (found.is_same && !put_back) {
            confirm(session, &found, raised);
            return STATUS_OK;
        }
        TRY(try_to_raise(session, remembered.epoch, &raised, err));
    }
    return error_set(err, STATUS_UNAVAILABLE, "other transactions keep changing the catalogue: try again");
}

static enum status raise_once(struct session *session, int64_t *epoch, struct error *err)
{
    bool raised = false;

    struct audit_record record = { .call_id = (int64_t)(random_bits() >> 1),
        .account = STR_EMPTY,
        .credential = AUDIT_CREDENTIAL_DATABASE,
        .method = STR_LITERAL("epoch raise"),
        .target = STR_EMPTY,
        .outcome = STR_LITERAL("OK") };

    TRY(session_ensure(session, err));
    session->audit = &record;
    for (int i = 0; i < MAX_ATTEMPTS && !raised; i++) {
        record.is_due = true;
        TRY(try_to_raise(session, 0, &raised, err));
    }
    if (!raised)
        return error_set(
            err, STATUS_UNAVAILABLE, "other transactions keep changing the catalogue: try again");
    *epoch = session->catalogue->epoch;
    return STATUS_OK;
}

enum status epoch_raise(const char *postgres, int64_t *epoch, struct error *err)
{
    struct session session;
    enum status status;

    pg_allow_data_loss(true); /* this program acknowledges nothing but the epoch itself */
    session_init(&session, postgres, "tavola epoch");
    status = raise_once(&session, epoch, err);
    session_cleanup(&session);
    return status;
}

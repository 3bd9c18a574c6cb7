/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_intents.c - see the header.
 */
#include "store/entities/batch_intents.h"

#include "domain/writes/write_plan.h"
#include "store/session/intent_rows.h"

/* ---- making ---- */

static struct intent make_intent(
    const struct write_set *set, const struct plan_row *row, uint32_t counter, enum intent_kind kind)
{
    return (struct intent){ .bucket = row->bucket,
        .id = intent_block_id(&set->ids, set->ids.first + counter),
        .kind = (int16_t)kind,
        .table_id = row->table->table_id,
        .key = row->key,
        .version = row->now.version,
        .trace = row->trace,
        .account = row->table->account };
}

static size_t make_rule_intents(
    const struct write_set *set, const struct plan_row *row, struct intent *intents)
{
    struct rule_work work[MAX_RULE_WORK];
    size_t count = write_plan_rule_work(row, work);

    for (size_t i = 0; i < count; i++) {
        intents[i] = make_intent(set, row, row->rules->first_intent + work[i].slot, work[i].kind);
        intents[i].table_id = work[i].index_id;
    }
    return count;
}

static size_t make_intents(struct session *session, const struct write_set *set, struct intent *intents)
{
    size_t count = 0;

    for (size_t i = 0; i < set->row_count; i++) {
        struct plan_row *row = &set->rows[i];

        if (write_plan_needs_intent(row, &session->arena))
            intents[count++] = make_intent(set, row, (uint32_t)i, INTENT_RECONCILE);
        if (row->rules)
            count += make_rule_intents(set, row, intents + count);
    }
    return count;
}

enum status batch_intents_send(struct session *session, const struct write_set *set, struct intent *intents,
    size_t *count, struct error *err)
{
    *count = make_intents(session, set, intents);
    return *count == 0 ? STATUS_OK : intent_rows_send(session, intents, *count, err);
}

/* ---- ctids ---- */

/* A row that needs no update lies where it was locked or created. The updated rows of wide tables are not told. */
static enum status take_updates(struct session *session, struct write_set *set, struct error *err)
{
    PG_RESULT updated = NULL;
    int next = 0;

    set->written_ctids = arena_calloc(&session->arena, set->row_count, sizeof(*set->written_ctids));
    for (size_t i = 0; i < set->row_count; i++) {
        if (write_plan_action(&set->rows[i]) == ROW_KEEP)
            set->written_ctids[i] = row_ctid_of(set->ctids[i]);
        if (!write_set_updates(&set->rows[i]))
            continue;
        if (!updated)
            TRY(pg_next(&session->pg, &updated, err));
        set->written_ctids[i] = row_ctid_of(pg_bytes(updated, next++, PG_ONLY_COLUMN));
    }
    return STATUS_OK;
}

static enum status take_written(
    struct session *session, struct write_set *set, struct intent *intents, size_t count, struct error *err)
{
    if (count == 0)
        return STATUS_OK;
    TRY(intent_rows_take(session, intents, count, err));
    return set->written_ctids ? STATUS_OK : take_updates(session, set, err);
}

/* The intents are in the order of the rows. */
static void note_sources(const struct write_set *set, struct intent *intents, size_t count)
{
    size_t next = 0;

    for (size_t i = 0; i < set->row_count; i++)
        for (; next < count && intents[next].bucket == set->rows[i].bucket &&
               entity_key_compare(&intents[next].key, &set->rows[i].key) == 0;
             next++)
            intents[next].ctids.source = set->written_ctids[i];
}

enum status batch_intents_take_commit(
    struct session *session, struct write_set *set, struct intent *intents, size_t count, struct error *err)
{
    struct error failure = { 0 }, lost = { 0 };
    enum status status = take_written(session, set, intents, count, &failure);

    if (session_take_answer(session, &lost) != STATUS_OK)
        return session_settle_commit(session, status == STATUS_OK ? &lost : &failure, err);
    if (count > 0)
        note_sources(set, intents, count);
    return STATUS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - servers that write for their callers: an entity with its intent, or a transaction with its own, each in
 * one commit, then a hint for the queue.
 */
#include "queue/queue.h"
#include "tests/sim/database.h"

static uint32_t writes_left[SERVERS];

void server_begin(int server, uint32_t writes)
{
    writes_left[server] = writes;
}

static void publish_hint(const struct intent *intent)
{
    size_t published;
    struct error err = { 0 };

    if (!sim_chance(200) && queue_publish(NULL, intent, 1, &published, &err) != STATUS_OK)
        sim_trace("a hint was lost");
}

static enum status write_entity(struct intent *out, struct error *err)
{
    int key = (int)sim_pick(KEYS), value = (int)sim_pick(VALUES);
    struct intent_id id;

    TRY(db_begin("begin write", err));
    id = db_draw_id();
    sim_step(about_write(key), "begins a write and draws id %u", (unsigned)id.low);
    TRY(db_lock(&db.rows[key].lock, "lock row", err));
    if (!db_may_commit("commit of a write", err))
        return STATUS_UNAVAILABLE;
    db_write(key, value);
    db_add_intent(id, INTENT_RECONCILE, key, out);
    sim_step(about_write(key), "commits %s, with an intent of id %u", city_of(value), (unsigned)id.low);
    trace_key(key);
    return db_committed(err);
}

static struct sim_step a_step(void)
{
    struct sim_step step = {
        .moves = sim_pick(2) == 0, .key = (int)sim_pick(KEYS), .value = 1 + (int)sim_pick(VALUES - 1)
    };

    step.to = (step.key + 1 + (int)sim_pick(KEYS - 1)) % KEYS;
    return step;
}

static enum status submit_transaction(struct intent *out, struct error *err)
{
    struct intent_id id;
    int number;

    TRY(db_begin("begin submit", err));
    id = db_draw_id();
    if (!db_may_commit("commit of a transaction", err))
        return STATUS_UNAVAILABLE;
    number = db.transaction_count++;
    db.transactions[number].there = true;
    for (int i = 0; i < STEPS; i++)
        db.transactions[number].steps[i] = a_step();
    db_add_intent(id, INTENT_TRANSACTION, number, out);
    trace_transaction(number);
    return db_committed(err);
}

bool server_turn(int server)
{
    struct intent intent;
    struct error err = { 0 };
    /* Every server may be about to submit one. */
    bool submits = sim_pick(4) == 0 && db.transaction_count + SERVERS <= MAX_TRANSACTIONS;

    if (writes_left[server] == 0)
        return false;
    writes_left[server]--;
    if ((submits ? submit_transaction(&intent, &err) : write_entity(&intent, &err)) == STATUS_OK)
        publish_hint(&intent);
    sim_wait((int64_t)sim_pick(3000000));
    return true;
}

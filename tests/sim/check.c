/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - the invariants after every commit, and the checks at the end.
 */
#include <stdio.h>

#include "tests/sim/database.h"

/* The entry that the index has for this value of this key; computed once. */
static const struct index_entry *entry_of_value(int key, int value)
{
    static struct arena arena;
    static struct index_entry entries[KEYS][VALUES];
    struct index_entry *entry = &entries[key][value];

    if (!entry->index_id) {
        struct row_state row = db_row_state(key, value, 1);
        const char *why;

        (void)index_plan_project(sim_table.indexes[0],
            &(struct entity){ .key = db.rows[key].key, .timestamp = 1, .properties = row.properties }, &arena,
            entry, &why);
    }
    return entry;
}

static bool is_at(const struct sim_entry *entry, const struct entity_key *key)
{
    return str_equal(str_of_bytes(entry->partition, entry->partition_len), key->partition) &&
           str_equal(str_of_bytes(entry->row, entry->row_len), key->row);
}

static void check_key(int key)
{
    const struct sim_row *row = &db.rows[key];
    bool settled = !db_is_open(INTENT_RECONCILE, key) && !db.key_dead_letters[key].dead;
    int found = 0;

    for (int i = 0; i < MAX_ENTRIES; i++) {
        const struct sim_entry *entry = &db.entries[i];

        if (!entry->there || entry->source != key)
            continue;
        if (entry->version > row->version)
            sim_fail("I3: the entry of key %d is newer than its source", key);
        if (settled && (row->value == 0 || !is_at(entry, &entry_of_value(key, row->value)->key)))
            sim_fail("I2: key %d has an entry that its value does not give", key);
        found++;
    }
    if (settled && found != (row->value > 0))
        sim_fail("I2: key %d has %d entries, and should have %d", key, found, row->value > 0);
}

void check_invariants(void)
{
    for (int i = 0; i < KEYS; i++)
        check_key(i);
}

/* ---- for the trace ---- */

const char *city_of(int value)
{
    return value > 0 ? sim_cities[value] : "absent";
}

const char *about_key(int key)
{
    static char text[32];

    (void)snprintf(text, sizeof(text), "[key %d]", key);
    return text;
}

static int range_of(int key)
{
    return (int)entity_key_bucket(TABLE_ID, db.rows[key].key.partition) / (1024 / LEASE_RANGES);
}

const char *about_write(int key)
{
    static char text[48];

    (void)snprintf(text, sizeof(text), "[key %d][range %d]", key, range_of(key));
    return text;
}

const char *about_range(int range)
{
    static char text[32];

    (void)snprintf(text, sizeof(text), "[range %d]", range);
    return text;
}

const char *about_transaction(int number, const struct sim_step *step)
{
    static char text[64];

    (void)snprintf(text, sizeof(text),
        step->moves ? "[transaction %d][key %d][key %d]" : "[transaction %d][key %d]", number, step->key,
        step->to);
    return text;
}

static int count_open(int key)
{
    int count = 0;

    for (int i = 0; i < db.intent_count; i++)
        count +=
            db.intents[i].open && db.intents[i].intent.kind == INTENT_RECONCILE && db.intents[i].what == key;
    return count;
}

/* How the key stands: its entity, its entries, its open intents. */
void trace_key(int key)
{
    const struct sim_row *row = &db.rows[key];
    char entries[256] = "";
    size_t len = 0;

    for (int i = 0; i < MAX_ENTRIES && len < sizeof(entries); i++) {
        const struct sim_entry *entry = &db.entries[i];

        if (entry->there && entry->source == key)
            len += (size_t)snprintf(entries + len, sizeof(entries) - len, "%s%.*s", len > 0 ? " and " : "",
                (int)entry->partition_len, entry->partition);
    }
    sim_trace("state of [key %d]: entity %s, version %lld; entry %s; open intents %d", key,
        city_of(row->value), (long long)row->version, len > 0 ? entries : "none", count_open(key));
}

void trace_transaction(int number)
{
    const struct sim_transaction *transaction = &db.transactions[number];

    sim_trace("state of [transaction %d]: steps recorded %d; effects of step 1: %d, of step 2: %d", number,
        transaction->steps_done, transaction->steps[0].effects, transaction->steps[1].effects);
}

void database_name_open(char *out, size_t size)
{
    (void)snprintf(out, size, "intents stay open after the faults have ended");
    for (int i = 0; i < db.intent_count; i++) {
        if (db.intents[i].open && db.intents[i].intent.kind == INTENT_RECONCILE) {
            (void)snprintf(out, size,
                "G7: an intent of key %d, range %d stays open after the faults have ended",
                db.intents[i].what, range_of(db.intents[i].what));
            return;
        }
    }
}

void database_check_end(void)
{
    check_invariants();
    for (int i = 0; i < db.transaction_count; i++) {
        if (db.transactions[i].steps_done != STEPS && !db.transaction_dead_letters[i].dead)
            sim_fail(
                "transaction %d rests with %d of %d steps done", i, db.transactions[i].steps_done, STEPS);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - the invariants after every commit, and the checks at the end.
 */
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

void database_check_end(void)
{
    check_invariants();
    for (int i = 0; i < db.transaction_count; i++) {
        if (db.transactions[i].steps_done != STEPS && !db.transaction_dead_letters[i].dead)
            sim_fail(
                "transaction %d rests with %d of %d steps done", i, db.transactions[i].steps_done, STEPS);
    }
}

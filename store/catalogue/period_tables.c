/* SPDX-License-Identifier: Apache-2.0 */
/*
 * period_tables.c - see the header.
 */
#include "store/catalogue/period_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/random.h"
#include "domain/ticks.h"
#include "store/catalogue/table_calls.h"
#include "store/sql.h"

enum {
    MAX_RULES = 100, /* of one statement */
    MAX_DROPS = 20,  /* of a rule in one round: a drop closes the fence for a moment */
};

enum rule_column { RULE_ACCOUNT, RULE_FOLDED, RULE_NAME, RULE_PERIOD, RULE_AHEAD, RULE_KEPT, RULE_NOW };

struct rule {
    struct str account, folded, name;
    struct table_periods periods;
    int64_t now; /* ticks, the database's clock */
};

/* What a round works with. Its memory is not the session's arena, which the operations replace. */
struct period_round {
    struct arena arena;
    struct str account, folded; /* of the last rule that was read */
    struct rule rules[MAX_RULES];
    size_t rule_count;
    const struct rule *rule; /* which is carried out */
    struct str names[MAX_PERIODS_AHEAD + 1 + MAX_DROPS];
    size_t drop_count, name_count; /* the first are to be dropped, the others to be made */
    struct str full_account;       /* nothing more is made for it in this round: its quota is used up */
    struct period_counts *counts;
};

/* ---- rules ---- */

static enum status read_rules(struct session *session, void *context, struct error *err)
{
    struct period_round *round = context;
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, round->account);
    pg_add_bytes(&params, round->folded);
    pg_add_int8(&params, MAX_RULES);
    TRY(pg_query(&session->pg, &sql_period_rules, &params, &rows, err));
    round->rule_count = (size_t)PQntuples(rows);
    for (int i = 0; i < PQntuples(rows); i++)
        round->rules[i] = (struct rule){
            .account = arena_copy(&round->arena, pg_bytes(rows, i, RULE_ACCOUNT)),
            .folded = arena_copy(&round->arena, pg_bytes(rows, i, RULE_FOLDED)),
            .name = arena_copy(&round->arena, pg_bytes(rows, i, RULE_NAME)),
            .periods = { .unit = (enum period_unit)pg_int2(rows, i, RULE_PERIOD),
                .ahead = pg_int2(rows, i, RULE_AHEAD),
                .kept = pg_int2(rows, i, RULE_KEPT) },
            .now = ticks_from_unix_us(pg_int8(rows, i, RULE_NOW)),
        };
    return STATUS_OK;
}

/* ---- which tables ---- */

/* After those that are dropped: they leave room in the account's quota. */
static void find_missing(const struct session *session, struct period_round *round)
{
    const struct rule *rule = round->rule;
    int64_t present = table_periods_at(rule->periods.unit, rule->now);

    for (int64_t period = present; period <= present + rule->periods.ahead; period++) {
        struct str name = table_periods_name(rule->periods.unit, rule->name, period, &round->arena);

        if (!catalogue_find(session->catalogue, rule->account, name))
            round->names[round->name_count++] = name;
    }
}

/*
 * Names that begin with the rule's stand together in the catalogue's order. They are copied, since a
 * drop changes the catalogue.
 */
static void find_past(const struct session *session, struct period_round *round)
{
    const struct rule *rule = round->rule;
    int64_t first = table_periods_first_kept(&rule->periods, rule->now, clock_ticks()), period;

    for (const struct table *table = catalogue_after(session->catalogue, rule->account, rule->folded);
         table && table->folded.len > rule->folded.len &&
         memcmp(table->folded.data, rule->folded.data, rule->folded.len) == 0 &&
         round->name_count < MAX_DROPS;
         table = catalogue_after(session->catalogue, rule->account, table->folded)) {
        if (!table->entries_of &&
            table_periods_parse(rule->periods.unit, rule->folded, table->folded, &period) && period < first)
            round->names[round->name_count++] = arena_copy(&round->arena, table->name);
    }
    round->drop_count = round->name_count;
}

/* ---- making and dropping ---- */

static struct audit_record *audit_of(struct period_round *round, const char *method, struct str table)
{
    struct audit_record *audit = ARENA_NEW(&round->arena, struct audit_record);

    *audit = (struct audit_record){ .call_id = (int64_t)(random_bits() >> 1),
        .account = round->rule->account,
        .method = str_of(method),
        .target = table,
        .outcome = STR_LITERAL("OK") };
    return audit;
}

static void carry_out(struct session *session, struct period_round *round, struct str name, bool drops)
{
    struct operation *operation = ARENA_NEW(&round->arena, struct operation);

    operation->kind = drops ? OPERATION_TABLE_DELETE : OPERATION_TABLE_CREATE;
    operation->account = round->rule->account;
    operation->table = name;
    operation->arena = &round->arena;
    operation->deadline_us = INT64_MAX;
    operation->audit = audit_of(round, drops ? "periods/DeleteTable" : "periods/CreateTable", name);
    if (drops)
        table_calls_delete(session, operation);
    else
        table_calls_create(session, operation);
    if (operation->status == STATUS_OK)
        drops ? round->counts->dropped++ : round->counts->made++;
    else if (operation->status != STATUS_EXISTS && operation->status != STATUS_NOT_FOUND) {
        round->counts->refused++;
        round->counts->example = *operation->error;
        if (!drops)
            round->full_account = operation->account;
    }
}

static enum status carry_out_rule(struct session *session, void *context, struct error *err)
{
    struct period_round *round = context;

    TRY(session_refresh(session, NULL, err));
    round->name_count = 0;
    find_past(session, round);
    find_missing(session, round);
    for (size_t i = 0; i < round->name_count; i++) {
        if (i >= round->drop_count && str_equal(round->full_account, round->rule->account))
            break;
        carry_out(session, round, round->names[i], i < round->drop_count);
        FAILPOINT_TRY("periods.between_tables", err);
    }
    return STATUS_OK;
}

enum status period_tables_keep(struct worker *store, struct period_counts *counts, struct error *err)
{
    struct period_round *round = xcalloc(1, sizeof(*round));
    enum status status;

    round->counts = counts;
    round->account = round->folded = round->full_account = STR_EMPTY;
    arena_init(&round->arena);
    do {
        status = worker_attempt(store, read_rules, round, err);
        for (size_t i = 0; status == STATUS_OK && i < round->rule_count; i++) {
            round->rule = &round->rules[i];
            round->account = round->rule->account;
            round->folded = round->rule->folded;
            status = worker_attempt(store, carry_out_rule, round, err);
        }
    } while (status == STATUS_OK && round->rule_count == MAX_RULES);
    arena_cleanup(&round->arena);
    free(round);
    return status;
}

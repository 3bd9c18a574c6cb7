/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_database.c - PostgreSQL, as the programs see it.
 */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/digits.h"
#include "client/doctor/doctor.h"
#include "client/doctor/rules.h"
#include "store/connection/database_facts.h"

#define PART "PostgreSQL"

enum {
    MAX_THREADS = 64,
    /* of the monitor, of changes of the catalogue, of calls that wait; one more for pages, imports, large writes */
    SERVER_OWN = 6,
    WORKER_OWN = 7, /* of relay, builder, sweeper, scrub, count of usage, renewal of leases, scaler */
};

static const double CLOCKS_APART_SECONDS = 1;
static const double TICKS_PER_SECOND = 1e7;
static const double UNIX_EPOCH_SECONDS = 11644473600; /* seconds between 1601 and 1970 */

double doctor_clock(void)
{
    return (double)clock_ticks() / TICKS_PER_SECOND - UNIX_EPOCH_SECONDS;
}

void doctor_leave_out(const char *part, const char *setting, struct findings *out)
{
    char what[96];

    snprintf(what, sizeof(what), "not checked: %s is not set", setting);
    findings_add(
        out, &(struct finding){ .severity = SEVERITY_NOTE,
                 .part = str_of(part),
                 .what = str_of(what),
                 .why = STR_LITERAL("what is wrong there stays unseen"),
                 .remedy = STR_LITERAL("set it as server and worker have it, and run tavola doctor again") });
}

void doctor_compare_clocks(const char *part, double theirs, double ours, struct findings *out)
{
    double apart = theirs - ours;
    char what[96];
    struct finding finding = { .part = str_of(part) };

    snprintf(what, sizeof(what), "its clock is %.1f s %s that of this machine", fabs(apart),
        apart < 0 ? "behind" : "ahead of");
    finding.what = str_of(what);
    if (fabs(apart) > CLOCKS_APART_SECONDS) {
        finding.severity = SEVERITY_WARNING;
        finding.why = STR_LITERAL(
            "tokens and signatures begin and end by the servers' clocks, entities expire by the database's");
        finding.remedy = STR_LITERAL("run a time service on every machine: apt-get install chrony");
    }
    findings_add(out, &finding);
}

/*
 * The threads that a setting of server or worker asks for. Those programs check their settings; what
 * is no number here counts as the default.
 */
static int threads_of(const char *setting, int fallback)
{
    const char *text = getenv(setting);
    uint64_t threads;

    return text && digits_parse_unsigned(str_of(text), MAX_THREADS, &threads) ? (int)threads : fallback;
}

/* Each thread keeps a connection: store/store.c has the server's, workers/process.c the worker's. */
static int connections_needed(void)
{
    int server = threads_of("TAVOLA_READ_THREADS", 2) + 3 * threads_of("TAVOLA_WRITE_THREADS", 2) +
                 2 * threads_of("TAVOLA_PAGE_THREADS", 2) + threads_of("TAVOLA_RPC_THREADS", 1);

    return server + SERVER_OWN + threads_of("TAVOLA_WORKER_THREADS", 2) + WORKER_OWN;
}

/* As far as PostgreSQL tells how many connections there may be. */
static void check_connections(const struct facts *facts, struct findings *out)
{
    struct str usable = rules_fact(facts, "usable_connections");
    char left[32];
    struct fact fact = { STR_LITERAL("connections_left_for_one_more"), STR_EMPTY };

    if (usable.len == 0)
        return;
    snprintf(left, sizeof(left), "%d", atoi(usable.data) - connections_needed());
    fact.value = str_of(left);
    rules_apply(&rules_of_postgres, &(struct facts){ &fact, 1 }, out);
}

static void add_failure(const struct error *err, struct findings *out)
{
    bool refused = err->status == STATUS_PRECONDITION;

    findings_add(out,
        &(struct finding){ .severity = SEVERITY_PROBLEM,
            .part = STR_LITERAL(PART),
            .what = str_of(err->message),
            .why = refused ? STR_LITERAL("server and worker refuse to work on this database")
                           : STR_LITERAL("without it no call is answered"),
            .remedy = refused ? STR_LITERAL("as the message says; docs/operations.md, Settings of PostgreSQL")
                              : STR_LITERAL("try psql with the same connection string; "
                                            "docs/runbooks/TavolaDatabaseUnavailable.md") });
}

void doctor_check_postgres(const struct client_config *config, struct findings *out)
{
    struct error err = { 0 };
    struct facts facts;
    struct pg pg;
    double before;

    if (!config->postgres) {
        doctor_leave_out(PART, "TAVOLA_POSTGRES", out);
        return;
    }
    pg_allow_data_loss(true); /* settings that can lose writes become findings here */
    pg_init(&pg, config->postgres, "tavola doctor");
    before = doctor_clock();
    if (database_facts_read(&pg, out->arena, &facts, &err) == STATUS_OK) {
        double after = doctor_clock(), theirs = atof(rules_fact(&facts, "clock").data);

        findings_add_ok(out, PART, "it can be reached, and has the schema of this version");
        rules_apply(&rules_of_postgres, &facts, out);
        check_connections(&facts, out);
        doctor_check_disk(&facts, out);
        doctor_compare_clocks(PART, theirs, fmin(fmax(theirs, before), after), out);
    } else {
        add_failure(&err, out);
    }
    pg_close(&pg);
}

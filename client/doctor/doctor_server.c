/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_server.c - the server of TAVOLA_TARGET, as a caller sees it.
 */
#include "base/local_address.h"
#include "client/connect.h"
#include "client/doctor/doctor.h"
#include "client/health.h"

#define PART "server"

enum { TIMEOUT_MS = 3000 };

static bool check_health(const struct client_config *config, struct findings *out)
{
    struct error err = { 0 };

    if (health_check(config, TIMEOUT_MS, &err) == STATUS_OK) {
        findings_add_ok(out, PART, "it answers SERVING");
        return true;
    }
    findings_add(out,
        &(struct finding){ .severity = SEVERITY_PROBLEM,
            .part = STR_LITERAL(PART),
            .what = str_of(err.message),
            .why = STR_LITERAL("callers get no answer, or UNAVAILABLE"),
            .remedy = STR_LITERAL(
                "look at the server's log; if it runs, the message says what it misses: the database, or a "
                "free connection") });
    return false;
}

/* Whether the server answers a call that needs a credential, without one. */
static bool serves_anybody(const struct client_config *config)
{
    struct client_config anonymous = *config;
    struct error err = { 0 };
    struct tavola *client;
    enum tavola_code code;
    int64_t count;

    anonymous.token = anonymous.token_file = NULL;
    if (client_connect(&anonymous, 1, &client, &err) != STATUS_OK)
        return false;
    code = tavola_count(client, "doctor", NULL, &count, NULL);
    tavola_close(client);
    return code == TAVOLA_OK || code == TAVOLA_NOT_FOUND;
}

static void check_authentication(const struct client_config *config, struct findings *out)
{
    if (local_address_is(config->target)) {
        findings_add_ok(out, PART, "authentication is not tried: only this machine reaches the address");
        return;
    }
    if (!serves_anybody(config)) {
        findings_add_ok(out, PART, "a caller without a token is refused");
        return;
    }
    findings_add(
        out, &(struct finding){ .severity = SEVERITY_PROBLEM,
                 .part = STR_LITERAL(PART),
                 .what = STR_LITERAL("it serves callers without a token, and other machines reach it"),
                 .why = STR_LITERAL("whoever reaches the address can read and delete everything"),
                 .remedy = STR_LITERAL("remove TAVOLA_AUTHENTICATION=none from the server's settings, or "
                                       "what passes calls on to it") });
}

static void check_build(const struct client_config *config, struct findings *out)
{
    if (!health_knows(config, "failpoints", TIMEOUT_MS)) {
        findings_add_ok(out, PART, "it is a build without failpoints");
        return;
    }
    findings_add(out,
        &(struct finding){ .severity = SEVERITY_PROBLEM,
            .part = STR_LITERAL(PART),
            .what = STR_LITERAL("it is a build with failpoints"),
            .why = STR_LITERAL(
                "it is for tests: one setting makes it die, stand still or fail at a named point"),
            .remedy = STR_LITERAL("run the programs of a release: ./dev build makes them in build/bin") });
}

static void check_files(const struct client_config *config, struct findings *out)
{
    if (!health_knows(config, "few-open-files", TIMEOUT_MS)) {
        findings_add_ok(out, PART, "it may open enough files");
        return;
    }
    findings_add(out,
        &(struct finding){ .severity = SEVERITY_WARNING,
            .part = STR_LITERAL(PART),
            .what =
                STR_LITERAL("the limit of its open files leaves fewer than 1,024 connections for callers"),
            .why = STR_LITERAL("each connection is a file: further callers are turned away"),
            .remedy = STR_LITERAL("raise the hard limit and restart it: LimitNOFILE=65536 in its unit, "
                                  "--ulimit nofile=65536 for a container, ulimit -n 65536 in a shell") });
}

bool doctor_check_server(const struct client_config *config, struct findings *out)
{
    if (!check_health(config, out))
        return false;
    check_authentication(config, out);
    check_build(config, out);
    check_files(config, out);
    return true;
}

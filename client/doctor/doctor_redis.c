/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_redis.c - Redis, as the programs see it.
 */
#include <math.h>
#include <stdlib.h>

#include "client/doctor/doctor.h"
#include "client/doctor/rules.h"
#include "queue/redis.h"

#define PART "Redis"

static const double US_PER_SECOND = 1e6;

/* Read INFO and TIME; the texts are in the arena. */
static enum status read_redis(
    struct redis *redis, struct arena *arena, struct facts *facts, double *clock, struct error *err)
{
    struct str info, seconds, us;
    REDIS_BATCH batch;

    redis_batch_init(&batch, arena, 2);
    redis_command(&batch, "INFO");
    redis_command(&batch, "TIME");
    TRY(redis_run(redis, &batch, 0, err));
    TRY(redis_reply_status(batch.replies[0], err));
    TRY(redis_reply_status(batch.replies[1], err));
    if (!redis_reply_str(batch.replies[0], &info) || !redis_reply_array(batch.replies[1], 2) ||
        !redis_reply_str(batch.replies[1]->element[0], &seconds) ||
        !redis_reply_str(batch.replies[1]->element[1], &us))
        return error_set(err, STATUS_INTERNAL, "the answers to INFO and TIME are not those of a Redis");
    rules_read_info(info, arena, facts);
    *clock = atof(seconds.data) + atof(us.data) / US_PER_SECOND;
    return STATUS_OK;
}

static void add_failure(const struct error *err, struct findings *out)
{
    findings_add(
        out, &(struct finding){ .severity = SEVERITY_PROBLEM,
                 .part = STR_LITERAL(PART),
                 .what = str_of(err->message),
                 .why = STR_LITERAL(
                     "work goes on by polling PostgreSQL: indexes follow some hundred milliseconds later"),
                 .remedy = STR_LITERAL(
                     "try redis-cli -u with the same address; docs/runbooks/TavolaRedisUnavailable.md") });
}

void doctor_check_redis(const struct client_config *config, struct findings *out)
{
    struct redis *redis = NULL;
    struct error err = { 0 };
    struct facts facts;
    double theirs = 0, before = doctor_clock();

    if (!config->redis.url) {
        doctor_leave_out(PART, "TAVOLA_REDIS", out);
        return;
    }
    if (redis_open(&config->redis, (const struct embedded *const[]){ NULL }, &redis, &err) == STATUS_OK &&
        read_redis(redis, out->arena, &facts, &theirs, &err) == STATUS_OK) {
        double after = doctor_clock();

        findings_add_ok(out, PART, "it can be reached");
        rules_apply(&rules_of_redis, &facts, out);
        doctor_compare_clocks(PART, theirs, fmin(fmax(theirs, before), after), out);
    } else {
        add_failure(&err, out);
    }
    redis_close(redis);
}

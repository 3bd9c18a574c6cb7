/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis.c - opens a link when a batch needs one: to the configured address, or to the master that
 * the Sentinels name. Each new connection loads the scripts. A script that the server has forgotten
 * since (SCRIPT FLUSH) is sent as text.
 */
#include "queue/redis.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "domain/reason.h"
#include "queue/redis_link.h"
#include "queue/redis_sentinel.h"
#include "queue/redis_tls.h"

enum {
    TIME_LIMIT_MS = 1000,
    CHECK_LIMIT_MS = 200,
    MIN_PAUSE_US = 500 * 1000, /* between attempts to connect */
    /* the pause lasts at least 4 times as long as the attempt, which blocks the caller */
    PAUSE_FACTOR = 4,
    SHA_BYTES = 41,
    MAX_SCRIPTS = 16,
};

static const int64_t check_every_us = 10 * 1000 * 1000;

struct redis {
    struct arena arena; /* holds the address */
    struct redis_access access;
    struct redis_url url;
    const struct embedded *const *scripts;
    char shas[MAX_SCRIPTS][SHA_BYTES];
    struct redis_link *link;    /* NULL: not connected */
    struct redis_master master; /* the link's server, if Sentinels named it */
    size_t next_sentinel;
    int64_t next_check_us; /* when to ask the Sentinels again whether this is the master */
    int64_t next_attempt_us;
    struct error last_failure; /* why there is no connection */
};

static int64_t deadline_in(int64_t ms)
{
    return clock_monotonic_us() + ms * 1000;
}

/* ---- the connection ---- */

static void close_link(struct redis *redis)
{
    redis_link_close(redis->link);
    redis->link = NULL;
}

/*
 * reply: [role, ...]. A server that Sentinels name may be a former master, or may not be the master
 * yet.
 */
static enum status check_role(const redisReply *reply, struct error *err)
{
    struct str role;

    TRY(redis_reply_status(reply, err));
    if (redis_reply_array(reply, 1) && redis_reply_str(reply->element[0], &role) &&
        str_equal(role, STR_LITERAL("master")))
        return STATUS_OK;
    return error_set(err, STATUS_UNAVAILABLE, "Redis: the server that the Sentinels name is not a master");
}

/* AUTH, SELECT, ROLE, then the scripts. Returns the index of ROLE in the batch. */
static size_t write_session_commands(const struct redis *redis, struct redis_batch *batch)
{
    size_t role;

    if (redis->url.password) {
        struct redis_command *command = redis_command(batch, "AUTH");

        if (redis->url.user)
            redis_word(command, str_of(redis->url.user));
        redis_word(command, str_of(redis->url.password));
    }
    if (redis->url.database > 0)
        redis_word_int(redis_command(batch, "SELECT"), redis->url.database);
    role = batch->count;
    redis_command(batch, "ROLE");
    for (size_t i = 0; redis->scripts[i]; i++) {
        struct redis_command *command = redis_command(batch, "SCRIPT");

        redis_word(command, STR_LITERAL("LOAD"));
        redis_word(command, str_of(redis->scripts[i]->text));
    }
    return role;
}

/* Log in, select the database, check the server's role, load the scripts: one pipeline. */
static enum status begin_session(struct redis *redis, int64_t deadline_us, struct error *err)
{
    struct arena arena __attribute__((cleanup(arena_cleanup)));
    REDIS_BATCH batch;
    struct str sha;
    size_t role;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, MAX_SCRIPTS + 3);
    role = write_session_commands(redis, &batch);
    TRY(redis_link_exchange(redis->link, &batch, 0, batch.count, deadline_us, err));
    for (size_t i = 0; i < role; i++)
        TRY(redis_reply_status(batch.replies[i], err));
    if (redis->url.master)
        TRY(check_role(batch.replies[role], err));
    for (size_t i = role + 1; i < batch.count; i++) {
        TRY(redis_reply_status(batch.replies[i], err));
        if (redis_reply_str(batch.replies[i], &sha) && sha.len < SHA_BYTES)
            memcpy(redis->shas[i - role - 1], sha.data, sha.len);
    }
    return STATUS_OK;
}

static enum status connect_now(struct redis *redis, int64_t deadline_us, struct error *err)
{
    struct redis_link_address address = { .path = redis->url.path,
        .host = redis->url.endpoints[0].host,
        .port = redis->url.endpoints[0].port,
        .tls = redis->url.tls ? &redis->access : NULL };
    enum status status;

    if (redis->url.master) {
        TRY(redis_sentinel_ask(
            &redis->url, &redis->access, &redis->next_sentinel, deadline_us, &redis->master, err));
        address.host = redis->master.host;
        address.port = redis->master.port;
        redis->next_check_us = clock_monotonic_us() + check_every_us;
    }
    TRY(redis_link_open(&address, deadline_us, &redis->link, err));
    status = begin_session(redis, deadline_us, err);
    if (status != STATUS_OK)
        close_link(redis);
    return status;
}

/* Allow no new attempt before a pause is over. began_us: when the failed attempt began. */
static void note_failure(struct redis *redis, int64_t began_us, const struct error *why)
{
    int64_t now_us = clock_monotonic_us(), pause_us = (now_us - began_us) * PAUSE_FACTOR;

    redis->next_attempt_us = now_us + (pause_us > MIN_PAUSE_US ? pause_us : MIN_PAUSE_US);
    redis->last_failure = *why;
    redis->next_sentinel++; /* the Sentinel that named this server may have old information */
}

/*
 * Close the link if the Sentinels name another master by now. A master that was replaced while the
 * network was split does not know about it, and goes on serving the clients on its side of the
 * network.
 */
static void check_master(struct redis *redis)
{
    struct redis_master master;

    if (!redis->link || !redis->url.master || clock_monotonic_us() < redis->next_check_us)
        return;
    redis->next_check_us = clock_monotonic_us() + check_every_us;
    if (redis_sentinel_ask(&redis->url, &redis->access, &redis->next_sentinel, deadline_in(CHECK_LIMIT_MS),
            &master, NULL) != STATUS_OK)
        return;
    if (master.port != redis->master.port || strcmp(master.host, redis->master.host) != 0)
        close_link(redis);
}

static enum status ensure_connection(struct redis *redis, struct error *err)
{
    int64_t began_us = clock_monotonic_us();
    struct error failure = { 0 };

    check_master(redis);
    if (redis->link)
        return STATUS_OK;
    if (began_us < redis->next_attempt_us)
        return error_set(err, STATUS_UNAVAILABLE, "%s", redis->last_failure.message);
    if (connect_now(redis, deadline_in(TIME_LIMIT_MS), &failure) == STATUS_OK)
        return STATUS_OK;
    note_failure(redis, began_us, &failure);
    return error_set(err, STATUS_UNAVAILABLE, "%s", failure.message);
}

static enum status check_access(
    const struct redis_access *access, const struct redis_url *url, struct error *err)
{
    if (url->tls)
        return redis_tls_check(access, err);
    if (!access->ca && !access->certificate && !access->key)
        return STATUS_OK;
    return reason_set(err, REASON_INVALID_INPUT,
        "certificates for Redis are set, but the address is without TLS; with TLS it begins with rediss:// "
        "or "
        "sentinels://");
}

enum status redis_open(const struct redis_access *access, const struct embedded *const *scripts,
    struct redis **out, struct error *err)
{
    struct redis *redis = xcalloc(1, sizeof(*redis));
    enum status status;
    size_t count = 0;

    while (scripts[count])
        count++;
    assert(count <= MAX_SCRIPTS && "there is room for every script's digest");
    redis->scripts = scripts;
    redis->access = *access;
    arena_init(&redis->arena);
    status = redis_url_parse(access->url, &redis->arena, &redis->url, err);
    if (status == STATUS_OK)
        status = check_access(access, &redis->url, err);
    if (status != STATUS_OK) {
        redis_close(redis);
        return status;
    }
    *out = redis;
    return STATUS_OK;
}

void redis_close(struct redis *redis)
{
    if (!redis)
        return;
    close_link(redis);
    arena_cleanup(&redis->arena);
    free(redis);
}

/* ---- running a batch ---- */

static const char *script_sha(const struct redis *redis, const struct embedded *script)
{
    for (size_t i = 0; redis->scripts[i]; i++) {
        if (redis->scripts[i] == script)
            return redis->shas[i];
    }
    assert(false && "every script was given to redis_open");
    return "";
}

static void set_word(struct redis_command *command, size_t at, const char *word)
{
    command->words[at] = word;
    command->lens[at] = strlen(word);
}

/* Send the calls of scripts that the server does not know once more, with the script's text. */
static enum status run_forgotten_scripts(
    struct redis *redis, struct redis_batch *batch, int64_t deadline_us, struct error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct redis_command *command = &batch->commands[i];

        if (!command->script || !redis_reply_is_error(batch->replies[i], "NOSCRIPT"))
            continue;
        set_word(command, 0, "EVAL");
        set_word(command, 1, command->script->text);
        TRY(redis_link_exchange(redis->link, batch, i, 1, deadline_us, err));
    }
    return STATUS_OK;
}

static enum status run_connected(
    struct redis *redis, struct redis_batch *batch, int64_t wait_ms, struct error *err)
{
    int64_t deadline_us = deadline_in(TIME_LIMIT_MS + wait_ms);

    for (size_t i = 0; i < batch->count; i++) {
        struct redis_command *command = &batch->commands[i];

        if (command->script)
            set_word(command, 1, script_sha(redis, command->script));
    }
    TRY(redis_link_exchange(redis->link, batch, 0, batch->count, deadline_us, err));
    return run_forgotten_scripts(redis, batch, deadline_us, err);
}

/*
 * Close the link if a reply says that the server cannot serve now: it is a replica, it has lost its
 * replicas, or it loads its data. After a pause the next connection may reach another server.
 */
static void close_link_if_unavailable(struct redis *redis, const struct redis_batch *batch)
{
    struct error why = { 0 };

    for (size_t i = 0; i < batch->count; i++) {
        if (redis_reply_status(batch->replies[i], &why) != STATUS_UNAVAILABLE)
            continue;
        close_link(redis);
        note_failure(redis, clock_monotonic_us(), &why);
        return;
    }
}

enum status redis_run(struct redis *redis, struct redis_batch *batch, int64_t wait_ms, struct error *err)
{
    enum status status;

    if (batch->count == 0)
        return STATUS_OK;
    TRY(ensure_connection(redis, err));
    status = run_connected(redis, batch, wait_ms, err);
    if (status == STATUS_OK)
        close_link_if_unavailable(redis, batch);
    else
        close_link(redis);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_sentinel.c - opens a connection for each question, since questions are rare.
 */
#include "queue/redis_sentinel.h"

#include <string.h>

#include "base/clock.h"
#include "base/digits.h"
#include "queue/redis_link.h"

static void write_question(
    const struct redis_url *url, const struct redis_access *access, struct redis_batch *batch)
{
    struct redis_command *command;

    if (access->sentinel_password)
        redis_word(redis_command(batch, "AUTH"), str_of(access->sentinel_password));
    command = redis_command(batch, "SENTINEL");
    redis_word(command, STR_LITERAL("GET-MASTER-ADDR-BY-NAME"));
    redis_word(command, str_of(url->master));
}

/* reply: [host, port], or nil if the Sentinel does not know the master's name. */
static enum status read_answer(
    const struct redis_url *url, const redisReply *reply, struct redis_master *out, struct error *err)
{
    struct str host, port;
    struct redis_master master = { .port = 0 };
    uint64_t number;

    TRY(redis_reply_status(reply, err));
    if (reply->type == REDIS_REPLY_NIL)
        return error_set(err, STATUS_UNAVAILABLE, "Sentinel knows no master \"%s\"", url->master);
    if (redis_reply_array(reply, 2) && redis_reply_str(reply->element[0], &host) &&
        redis_reply_str(reply->element[1], &port) && host.len < sizeof(master.host) &&
        digits_parse_unsigned(port, 65535, &number)) {
        memcpy(master.host, host.data, host.len);
        master.port = (int)number;
    }
    if (master.port == 0)
        return error_set(err, STATUS_UNAVAILABLE, "Sentinel: the reply is not [host, port]");
    *out = master;
    return STATUS_OK;
}

static enum status ask_link(struct redis_link *link, const struct redis_url *url,
    const struct redis_access *access, int64_t deadline_us, struct redis_master *out, struct error *err)
{
    struct arena arena __attribute__((cleanup(arena_cleanup)));
    REDIS_BATCH batch;

    arena_init(&arena);
    redis_batch_init(&batch, &arena, 2);
    write_question(url, access, &batch);
    TRY(redis_link_exchange(link, &batch, 0, batch.count, deadline_us, err));
    TRY(redis_reply_status(batch.replies[0], err));
    return read_answer(url, batch.replies[batch.count - 1], out, err);
}

static enum status ask_one(const struct redis_url *url, const struct redis_access *access, size_t at,
    int64_t deadline_us, struct redis_master *out, struct error *err)
{
    const struct redis_link_address address = {
        .host = url->endpoints[at].host, .port = url->endpoints[at].port, .tls = url->tls ? access : NULL
    };
    struct redis_link *link = NULL;
    enum status status;

    TRY(redis_link_open(&address, deadline_us, &link, err));
    status = ask_link(link, url, access, deadline_us, out, err);
    redis_link_close(link);
    return status;
}

enum status redis_sentinel_ask(const struct redis_url *url, const struct redis_access *access, size_t *next,
    int64_t deadline_us, struct redis_master *out, struct error *err)
{
    struct error last = { 0 };

    for (size_t i = 0; i < url->endpoint_count; i++) {
        size_t at = (*next + i) % url->endpoint_count;
        int64_t now_us = clock_monotonic_us();
        int64_t share_us = (deadline_us - now_us) / (int64_t)(url->endpoint_count - i);

        if (ask_one(url, access, at, now_us + share_us, out, &last) == STATUS_OK) {
            *next = at;
            return STATUS_OK;
        }
    }
    return error_set(err, STATUS_UNAVAILABLE,
        "no Sentinel could say where the master is; the last one asked: %s", last.message);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.c - see the header.
 */
#include "domain/database/history.h"

#include "base/buf.h"
#include "base/wire.h"

bool history_was_put_back(const struct history *remembered, const struct history *now)
{
    if (remembered->system_id == 0 || remembered->system_id != now->system_id)
        return false;
    if (remembered->epoch != now->epoch)
        return remembered->epoch > now->epoch;
    if (remembered->timeline != now->timeline)
        return remembered->timeline > now->timeline;
    return remembered->lsn > now->lsn;
}

void history_remember(struct history *known, const struct history *seen)
{
    if (!history_was_put_back(known, seen))
        *known = *seen;
}

struct str history_seal(const struct history *history, const struct token_key *key, struct arena *arena)
{
    struct token token = { .purpose = TOKEN_HISTORY, .query = STR_EMPTY, .second = STR_EMPTY };
    struct buf encoded;

    buf_init(&encoded, arena);
    wire_write_varint(&encoded, (uint64_t)history->system_id);
    wire_write_varint(&encoded, (uint64_t)history->timeline);
    wire_write_varint(&encoded, (uint64_t)history->epoch);
    wire_write_varint(&encoded, (uint64_t)history->lsn);
    token.first = buf_str(&encoded);
    return token_encode(key, &token, arena);
}

static bool read_number(struct str *rest, int64_t *out)
{
    uint64_t number;

    if (!wire_read_varint(rest, &number))
        return false;
    *out = (int64_t)number;
    return true;
}

bool history_open(struct str text, const struct token_key *key, struct arena *arena, struct history *out)
{
    struct history history;
    struct token token = { .purpose = TOKEN_HISTORY, .query = STR_EMPTY };
    struct error ignored;

    if (token_decode(key, text, arena, &token, &ignored) != STATUS_OK ||
        !read_number(&token.first, &history.system_id) || !read_number(&token.first, &history.timeline) ||
        !read_number(&token.first, &history.epoch) || !read_number(&token.first, &history.lsn) ||
        token.first.len > 0)
        return false;
    *out = history;
    return true;
}

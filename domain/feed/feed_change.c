/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_change.c - see the header.
 */
#include "domain/feed/feed_change.h"

#include "base/buf.h"
#include "base/wire.h"
#include "domain/reason.h"

struct str feed_position_encode(const struct feed_position *position, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    wire_write_varint(&out, (uint64_t)position->feed_id);
    wire_write_varint(&out, (uint64_t)position->epoch);
    wire_write_varint(&out, (uint64_t)position->number);
    return buf_str(&out);
}

bool feed_position_decode(struct str bytes, struct feed_position *out)
{
    uint64_t feed_id, epoch, number;

    if (!wire_read_varint(&bytes, &feed_id) || !wire_read_varint(&bytes, &epoch) ||
        !wire_read_varint(&bytes, &number) || bytes.len > 0)
        return false;
    out->feed_id = (int64_t)feed_id;
    out->epoch = (int64_t)epoch;
    out->number = (int64_t)number;
    return true;
}

static enum status require_resync(const char *why, struct error *err)
{
    return reason_set(err, REASON_RESYNC_REQUIRED,
        "the changes after this token are not available: %s; watch without a token, then read the table",
        why);
}

enum status feed_position_check(
    const struct feed_position *from, const struct feed_position *now, int64_t newest, struct error *err)
{
    if (from->table_id != now->table_id)
        return require_resync("the table was deleted and created again", err);
    if (from->feed_id != now->feed_id)
        return require_resync("the change feed was switched off in between", err);
    if (from->epoch != now->epoch)
        return require_resync("the database has failed over or was restored", err);
    if (from->number < now->number)
        return require_resync("they are older than the feed's retention", err);
    if (from->number > newest)
        return require_resync("the feed ends before the token: the database was restored", err);
    return STATUS_OK;
}

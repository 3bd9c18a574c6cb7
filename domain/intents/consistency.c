/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consistency.c - see the header. The bytes are varints in a fixed order; a block's buckets are
 * differences.
 */
#include "domain/intents/consistency.h"

#include "base/buf.h"
#include "base/wire.h"
#include "domain/limits.h"

static int64_t oldest(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

struct consistency consistency_add(
    const struct consistency *a, const struct consistency *b, struct arena *arena)
{
    struct consistency sum = {
        .epoch = oldest(a->epoch, b->epoch),
        .table_id = a->table_id == b->table_id ? a->table_id : 0,
        .account = STR_EMPTY,
        .id = STR_EMPTY,
        .blocks = ARENA_ARRAY(arena, struct intent_block, a->block_count + b->block_count),
    };

    for (size_t i = 0; i < a->block_count; i++)
        sum.blocks[sum.block_count++] = a->blocks[i];
    for (size_t i = 0; i < b->block_count; i++)
        sum.blocks[sum.block_count++] = b->blocks[i];
    return sum;
}

/* ---- encoding ---- */

static void write_counted(struct buf *out, struct str text)
{
    wire_write_varint(out, text.len);
    buf_append(out, text);
}

static void write_block(struct buf *out, const struct intent_block *block)
{
    int16_t before = 0;

    wire_write_varint(out, (uint64_t)block->us);
    wire_write_varint(out, block->origin);
    wire_write_varint(out, block->first);
    wire_write_varint(out, block->last - block->first);
    wire_write_varint(out, block->bucket_count);
    for (size_t i = 0; i < block->bucket_count; i++) {
        wire_write_varint(out, (uint64_t)(block->buckets[i] - before));
        before = block->buckets[i];
    }
}

struct str consistency_encode(const struct consistency *consistency, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    wire_write_varint(&out, (uint64_t)consistency->epoch);
    wire_write_varint(&out, (uint64_t)consistency->table_id);
    write_counted(&out, consistency->account);
    write_counted(&out, consistency->id);
    wire_write_varint(&out, consistency->block_count);
    for (size_t i = 0; i < consistency->block_count; i++)
        write_block(&out, &consistency->blocks[i]);
    return buf_str(&out);
}

/* ---- decoding ---- */

static bool read_number(struct str *rest, uint64_t max, uint64_t *out)
{
    return wire_read_varint(rest, out) && *out <= max;
}

static bool read_counted(struct str *rest, struct str *out)
{
    uint64_t len;

    if (!read_number(rest, rest->len, &len) || len > rest->len)
        return false;
    *out = str_of_bytes(rest->data, (size_t)len);
    *rest = str_from(*rest, (size_t)len);
    return true;
}

static bool read_buckets(struct str *rest, struct intent_block *block)
{
    uint64_t at = 0, step;

    for (size_t i = 0; i < block->bucket_count; i++) {
        if (!read_number(rest, BUCKETS - 1, &step) || (i > 0 && step == 0) || at + step >= BUCKETS)
            return false;
        at += step;
        block->buckets[i] = (int16_t)at;
    }
    return true;
}

static bool read_block(struct str *rest, struct arena *arena, struct intent_block *out)
{
    uint64_t us, origin, first, span, count;

    if (!read_number(rest, INT64_MAX, &us) || !read_number(rest, UINT32_MAX, &origin) ||
        !read_number(rest, UINT32_MAX, &first) || !read_number(rest, UINT32_MAX - first, &span) ||
        !read_number(rest, BUCKETS, &count) || count == 0)
        return false;
    *out = (struct intent_block){ .us = (int64_t)us,
        .origin = (uint32_t)origin,
        .first = (uint32_t)first,
        .last = (uint32_t)(first + span),
        .buckets = ARENA_ARRAY(arena, int16_t, (size_t)count),
        .bucket_count = (size_t)count };
    return read_buckets(rest, out);
}

bool consistency_decode(struct str bytes, struct arena *arena, struct consistency *out)
{
    uint64_t epoch, table_id, count;
    struct consistency read = { 0 };

    if (!read_number(&bytes, INT64_MAX, &epoch) || !read_number(&bytes, INT64_MAX, &table_id) ||
        !read_counted(&bytes, &read.account) || !read_counted(&bytes, &read.id) ||
        !read_number(&bytes, bytes.len, &count))
        return false;
    read.epoch = (int64_t)epoch;
    read.table_id = (int64_t)table_id;
    read.block_count = (size_t)count;
    read.blocks = ARENA_ARRAY(arena, struct intent_block, read.block_count);
    for (size_t i = 0; i < read.block_count; i++)
        if (!read_block(&bytes, arena, &read.blocks[i]))
            return false;
    if (bytes.len > 0)
        return false;
    *out = read;
    return true;
}

/* ---- transactions ---- */

bool consistency_of_transaction(
    const struct transaction *transaction, struct arena *arena, struct consistency *out)
{
    struct consistency sum = { .account = STR_EMPTY, .id = STR_EMPTY };

    if (!transaction_is_final(transaction->state) || transaction->state == TRANSACTION_DEAD) {
        *out = (struct consistency){ .account = transaction->account, .id = transaction->id };
        return true;
    }
    sum.blocks = ARENA_ARRAY(arena, struct intent_block, transaction->attempt_count);
    for (size_t i = 0; i < transaction->attempt_count; i++) {
        struct consistency step;

        if (transaction->timeline[i].left_open.len == 0 ||
            !consistency_decode(transaction->timeline[i].left_open, arena, &step) || step.block_count != 1)
            continue;
        /* as consistency_add */
        sum.epoch = sum.block_count == 0 ? step.epoch : oldest(step.epoch, sum.epoch);
        sum.blocks[sum.block_count++] = step.blocks[0];
    }
    if (sum.block_count == 0)
        return false;
    *out = sum;
    return true;
}

size_t freshness_probes(const struct freshness *freshness)
{
    size_t probes = 0;

    for (size_t i = 0; i < freshness->at_least_count; i++)
        for (size_t k = 0; k < freshness->at_least[i].block_count; k++)
            probes += freshness->at_least[i].blocks[k].bucket_count;
    return probes;
}

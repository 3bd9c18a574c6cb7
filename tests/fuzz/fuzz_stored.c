/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_stored.c - any bytes instead of stored ones: in rows of PostgreSQL, after a restore or a write by another
 * program. The first byte says what kind of bytes they replace. They are refused, or they read the same once they are
 * written again.
 */
#include "domain/catalogue/access_policy.h"
#include "domain/indexes/index_codec.h"
#include "domain/transactions/effect.h"
#include "domain/transactions/transaction.h"
#include "domain/writes/request_record.h"
#include "tests/fuzz/fuzz.h"

enum { REPEATED_WRITES = 2 };

fuzz_fn fuzz_stored;

typedef void check_fn(struct str bytes, struct arena *arena);

static void check_steps(struct str bytes, struct arena *arena)
{
    struct step *steps;
    struct str once;
    size_t count;

    if (!transaction_decode_steps(bytes, arena, &steps, &count))
        return;
    once = transaction_encode_steps(steps, count, arena);
    fuzz_require(transaction_decode_steps(once, arena, &steps, &count));
    fuzz_require(str_equal(transaction_encode_steps(steps, count, arena), once));
}

static void check_timeline(struct str bytes, struct arena *arena)
{
    struct attempt *attempts;
    struct str once;
    size_t count;

    if (!transaction_decode_timeline(bytes, arena, &attempts, &count))
        return;
    once = transaction_encode_timeline(attempts, count, arena);
    fuzz_require(transaction_decode_timeline(once, arena, &attempts, &count));
    fuzz_require(str_equal(transaction_encode_timeline(attempts, count, arena), once));
}

/* The answer of a batch of two: it is returned whole, or the record cannot be read. */
static void check_response(struct str bytes, struct arena *arena)
{
    struct write writes[REPEATED_WRITES] = { { .kind = WRITE_INSERT }, { .kind = WRITE_DELETE } };
    struct operation operation = { .kind = OPERATION_WRITE,
        .arena = arena,
        .in.write = { .writes = writes, .count = REPEATED_WRITES, .atomic = true } };
    const struct request_record record = { .digest = STR_EMPTY, .response = bytes };

    request_record_replay(&record, STR_EMPTY, &operation);
    fuzz_require((operation.status == STATUS_OK) == !operation.error);
    fuzz_require(operation.error ? operation.error->reason != NULL : operation.out.write.replayed);
}

static void check_index(struct str bytes, struct arena *arena)
{
    struct index index = { 0 }, again = { 0 };
    struct str once;

    if (!index_codec_decode(bytes, arena, &index))
        return;
    once = index_codec_encode(&index, arena);
    fuzz_require(index_codec_decode(once, arena, &again));
    fuzz_require(str_equal(index_codec_encode(&again, arena), once));
}

static void check_policies(struct str bytes, struct arena *arena)
{
    struct access_policies policies, again;
    struct str once;

    if (!access_policies_decode(bytes, arena, &policies))
        return;
    once = access_policies_encode(&policies, arena);
    fuzz_require(access_policies_decode(once, arena, &again));
    fuzz_require(str_equal(access_policies_encode(&again, arena), once));
}

static void check_note(struct str bytes, struct arena *arena)
{
    struct effect_note note;
    struct str once;

    if (!effect_note_decode(bytes, arena, &note))
        return;
    once = effect_note_encode(&note, arena);
    fuzz_require(effect_note_decode(once, arena, &note));
    fuzz_require(str_equal(effect_note_encode(&note, arena), once));
}

void fuzz_stored(struct str input)
{
    static check_fn *const checks[] = { check_steps, check_timeline, check_response, check_index,
        check_policies, check_note };
    struct arena arena;

    if (input.len == 0)
        return;
    arena_init(&arena);
    checks[(unsigned char)input.data[0] % ARRAY_LEN(checks)](str_from(input, 1), &arena);
    arena_cleanup(&arena);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction.c - the stored bytes of steps and timelines, and the checks of what a caller submits.
 *
 * Steps and timelines are stored behind one version byte, each as a list of messages
 * (base/wire_form.h). Optional fields were added later or are rare; steps without them have the
 * same bytes as in earlier versions.
 */
#include "domain/transactions/transaction.h"

#include <stdlib.h>

#include "base/digits.h"
#include "base/wire_form.h"
#include "domain/account_id.h"
#include "domain/catalogue/table_name.h"
#include "domain/digest.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"
#include "domain/transactions/effect.h"

enum { VERSION = 1 };

#define STEP(number, type, member, ...) WIRE_FORM_FIELD(number, type, struct step, member, __VA_ARGS__)
#define ATTEMPT(number, type, member, ...) WIRE_FORM_FIELD(number, type, struct attempt, member, __VA_ARGS__)

static const struct wire_form_field step_fields[] = {
    STEP(1, UINT32, kind, .min = STEP_INSERT_OR_REPLACE, .max = STEP_KIND_LAST, .required = true),
    STEP(2, TEXT, table),
    STEP(3, TEXT, key.partition),
    STEP(4, TEXT, key.row),
    STEP(5, TEXT, properties.bytes),
    STEP(6, TEXT, to_table),
    STEP(7, TEXT, to_key.partition),
    STEP(8, TEXT, to_key.row),
    STEP(9, UINT32, condition.kind, .min = CONDITION_NONE, .max = CONDITION_MATCHES),
    STEP(10, ZIGZAG64, condition.etag.table_id),
    STEP(11, ZIGZAG64, condition.etag.version),
    STEP(12, TEXT, condition.text, .optional = true),
    STEP(13, ZIGZAG64, expires, .optional = true),
    STEP(14, TEXT, account, .optional = true),
    STEP(15, TEXT, to_account, .optional = true),
    STEP(16, ZIGZAG64, table_id, .optional = true),
    STEP(17, ZIGZAG64, to_table_id, .optional = true),
    STEP(18, UINT32, condition.etag.key, .min = 1, .optional = true),
    STEP(19, TEXT, path, .optional = true),
    STEP(20, TEXT, content, .optional = true),
    STEP(21, BOOL, deletes_entity, .optional = true),
    STEP(22, TEXT, content_type, .optional = true),
    STEP(23, TEXT, if_match, .optional = true),
    STEP(24, BOOL, if_absent, .optional = true),
    STEP(25, BOOL, uses_put, .optional = true),
};
static const struct wire_form step_form = WIRE_FORM(step_fields, struct step);

static const struct wire_form_field attempt_fields[] = {
    ATTEMPT(1, ZIGZAG32, step),
    ATTEMPT(2, ZIGZAG32, number),
    ATTEMPT(3, TEXT, worker),
    ATTEMPT(4, ZIGZAG64, started),
    ATTEMPT(5, ZIGZAG64, ended),
    ATTEMPT(6, TEXT, etag_before),
    ATTEMPT(7, TEXT, etag_after),
    ATTEMPT(8, UINT32, status, .max = STATUS_COUNT - 1),
    ATTEMPT(9, TEXT, reason),
    ATTEMPT(10, TEXT, message),
    ATTEMPT(11, TEXT, left_open, .optional = true),
    ATTEMPT(12, ZIGZAG64, receipt.size, .optional = true),
    ATTEMPT(13, TEXT, receipt.digest, .optional = true),
    ATTEMPT(14, ZIGZAG64, receipt.offset, .optional = true),
    ATTEMPT(15, TEXT, receipt.etag, .optional = true),
    ATTEMPT(16, ZIGZAG32, receipt.http_status, .optional = true),
};
static const struct wire_form attempt_form = WIRE_FORM(attempt_fields, struct attempt);

/* A list of steps or of attempts. */
struct list {
    const void *items;
    size_t count;
};

static const struct wire_form_field steps_fields[] = { WIRE_FORM_ARRAY(
    1, MESSAGES, struct list, items, count, .form = &step_form) };
static const struct wire_form steps_form = WIRE_FORM(steps_fields, struct list);

static const struct wire_form_field timeline_fields[] = { WIRE_FORM_ARRAY(
    1, MESSAGES, struct list, items, count, .form = &attempt_form) };
static const struct wire_form timeline_form = WIRE_FORM(timeline_fields, struct list);

/* ---- stored bytes ---- */

static struct str encode_list(
    const struct wire_form *form, const void *items, size_t count, struct arena *arena)
{
    const struct list list = { items, count };
    struct buf out;

    buf_init(&out, arena);
    buf_append_byte(&out, VERSION);
    wire_form_write(&out, form, &list);
    return buf_str(&out);
}

/* The items lie in the arena; their texts borrow the bytes. */
static bool decode_list(struct str bytes, const struct wire_form *form, struct arena *arena, struct list *out)
{
    return bytes.len > 0 && bytes.data[0] == VERSION && wire_form_read(str_from(bytes, 1), form, arena, out);
}

struct str transaction_encode_steps(const struct step *steps, size_t count, struct arena *arena)
{
    return encode_list(&steps_form, steps, count, arena);
}

bool transaction_decode_steps(struct str bytes, struct arena *arena, struct step **out, size_t *count)
{
    struct list list;

    if (!decode_list(bytes, &steps_form, arena, &list))
        return false;
    *out = (struct step *)list.items;
    *count = list.count;
    return true;
}

struct str transaction_encode_timeline(const struct attempt *attempts, size_t count, struct arena *arena)
{
    return encode_list(&timeline_form, attempts, count, arena);
}

bool transaction_decode_timeline(struct str bytes, struct arena *arena, struct attempt **out, size_t *count)
{
    struct list list;

    if (!decode_list(bytes, &timeline_form, arena, &list))
        return false;
    *out = (struct attempt *)list.items;
    *count = list.count;
    return true;
}

/* ---- equal steps ---- */

/*
 * The bytes of the steps without the parts in which a repeat may differ: the case of table names,
 * and table ids.
 */
static struct str encode_meaning(const struct step *steps, size_t count, struct arena *arena)
{
    struct step *plain = ARENA_ARRAY(arena, struct step, count);

    for (size_t i = 0; i < count; i++) {
        plain[i] = steps[i];
        plain[i].table = table_name_fold(steps[i].table, arena);
        plain[i].to_table = table_name_fold(steps[i].to_table, arena);
        plain[i].table_id = plain[i].to_table_id = 0;
    }
    return transaction_encode_steps(plain, count, arena);
}

bool transaction_same_steps(
    const struct step *a, size_t a_count, const struct step *b, size_t b_count, struct arena *arena)
{
    return a_count == b_count &&
           str_equal(encode_meaning(a, a_count, arena), encode_meaning(b, b_count, arena));
}

/* ---- timelines ---- */

static int32_t next_number(const struct transaction *transaction, int32_t step)
{
    int32_t last = 0;

    for (size_t i = 0; i < transaction->attempt_count; i++)
        if (transaction->timeline[i].step == step && transaction->timeline[i].number > last)
            last = transaction->timeline[i].number;
    return last + 1;
}

/* The attempt to drop: the oldest that failed, or else the oldest. */
static size_t min_wanted(const struct transaction *transaction)
{
    for (size_t i = 0; i < transaction->attempt_count; i++)
        if (transaction->timeline[i].status != STATUS_OK)
            return i;
    return 0;
}

void transaction_note_attempt(
    struct transaction *transaction, const struct attempt *attempt, struct arena *arena)
{
    size_t count = transaction->attempt_count, dropped = count;
    struct attempt *timeline = ARENA_ARRAY(arena, struct attempt, count + 1);
    int32_t number = next_number(transaction, attempt->step);
    size_t kept = 0;

    if (count >= LIMIT_TRANSACTION_ATTEMPTS)
        dropped = min_wanted(transaction);
    for (size_t i = 0; i < count; i++)
        if (i != dropped)
            timeline[kept++] = transaction->timeline[i];
    timeline[kept] = *attempt;
    timeline[kept++].number = number;
    transaction->timeline = timeline;
    transaction->attempt_count = kept;
}

/* ---- the keys that steps name ---- */

int64_t transaction_key_digest(
    struct str owner, struct str account, struct str table, const struct entity_key *key)
{
    char folded[LIMIT_TABLE_NAME_MAX];
    size_t len = table.len < sizeof(folded) ? table.len : sizeof(folded);
    uint64_t digest = digest_of(0, account_id_name(account.len > 0 ? account : owner));

    for (size_t i = 0; i < len; i++)
        folded[i] =
            table.data[i] >= 'A' && table.data[i] <= 'Z' ? (char)(table.data[i] | 0x20) : table.data[i];
    digest = digest_of(digest, str_of_bytes(folded, len));
    return (int64_t)digest_of(digest_of(digest, key->partition), key->row);
}

static int by_digest(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

size_t transaction_touched(const struct transaction *transaction, struct arena *arena, int64_t **out)
{
    int64_t *digests = ARENA_ARRAY(arena, int64_t, 2 * transaction->step_count);
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < transaction->step_count; i++) {
        const struct step *step = &transaction->steps[i];

        if (!transaction_step_has_entity(step))
            continue;
        digests[count++] =
            transaction_key_digest(transaction->account, step->account, step->table, &step->key);
        if (step->kind == STEP_MOVE)
            digests[count++] =
                transaction_key_digest(transaction->account, step->to_account, step->to_table, &step->to_key);
    }
    if (count > 1)
        qsort(digests, count, sizeof(digests[0]), by_digest);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || digests[i] != digests[i - 1])
            digests[kept++] = digests[i];
    *out = digests;
    return kept;
}

/* ---- checks ---- */

bool transaction_step_has_entity(const struct step *step)
{
    return step->table.len > 0;
}

static enum status check_id(struct str id, struct error *err)
{
    bool fits = id.len >= 1 && id.len <= LIMIT_TRANSACTION_ID_BYTES;

    for (size_t i = 0; fits && i < id.len; i++)
        fits = id.data[i] >= ' ' && id.data[i] <= '~';
    if (fits)
        return STATUS_OK;
    reason_set(err, REASON_INVALID_INPUT, "a transaction id has 1 to %d printable ASCII characters",
        LIMIT_TRANSACTION_ID_BYTES);
    error_add_meta_int(err, "limit", LIMIT_TRANSACTION_ID_BYTES);
    error_add_meta_int(err, "actual", (int64_t)id.len);
    return STATUS_INVALID;
}

static enum status check_step(const struct step *step, size_t number, struct error *err)
{
    const char *problem = NULL;

    if (step->kind < STEP_INSERT_OR_REPLACE || step->kind > STEP_KIND_LAST)
        problem = "has no action; allowed are insert_or_replace, insert_or_merge, delete_if_exists, move, "
                  "write_file, append_file, put_blob, delete_blob and http_call";
    else if (transaction_step_is_effect(step))
        problem = effect_problem(step);
    else if (step->kind == STEP_MOVE && str_equal_any_case(step->table, step->to_table) &&
             str_equal(step->account, step->to_account) && entity_key_compare(&step->key, &step->to_key) == 0)
        problem = "moves an entity onto itself: source and destination must differ";
    if (!problem)
        return STATUS_OK;
    reason_set(err, REASON_INVALID_INPUT, "step %zu %s", number, problem);
    error_add_meta_int(err, "operation_index", (int64_t)number);
    return STATUS_INVALID;
}

enum status transaction_check(const struct transaction *transaction, struct error *err)
{
    TRY(check_id(transaction->id, err));
    if (transaction->step_count < 1 || transaction->step_count > LIMIT_TRANSACTION_STEPS) {
        reason_set(err, REASON_INVALID_INPUT, "a transaction has 1 to %d steps, this one has %zu",
            LIMIT_TRANSACTION_STEPS, transaction->step_count);
        error_add_meta_int(err, "limit", LIMIT_TRANSACTION_STEPS);
        error_add_meta_int(err, "actual", (int64_t)transaction->step_count);
        return STATUS_INVALID;
    }
    for (size_t i = 0; i < transaction->step_count; i++)
        TRY(check_step(&transaction->steps[i], i, err));
    return STATUS_OK;
}

/* ---- age ---- */

/* Read the milliseconds since 1970 from a UUIDv7 (RFC 9562); false: the id is not a UUIDv7. */
static bool uuid_v7_time(struct str id, int64_t *ms)
{
    static const char form[] = "xxxxxxxx-xxxx-7xxx-vxxx-xxxxxxxxxxxx";
    int64_t time = 0;

    if (id.len != sizeof(form) - 1)
        return false;
    for (size_t i = 0; i < id.len; i++) {
        int value = digits_hex_value(id.data[i]);

        if (form[i] == '-' || form[i] == '7') {
            if (id.data[i] != form[i])
                return false;
        } else if (value < 0 || (form[i] == 'v' && (value < 8 || value > 11))) {
            return false;
        } else if (i < 13) {
            time = time << 4 | value;
        }
    }
    *ms = time;
    return true;
}

enum status transaction_id_check_age(struct str id, int64_t now, int64_t retention_s, struct error *err)
{
    int64_t ms;

    if (!uuid_v7_time(id, &ms) || ticks_from_unix_us(ms * 1000) >= now - retention_s * TICKS_PER_SECOND)
        return STATUS_OK;
    reason_set(err, REASON_TRANSACTION_ID_EXPIRED,
        "the id's time is more than %lld seconds ago: whether the transaction has run is no longer known",
        (long long)retention_s);
    error_add_meta_int(err, "limit", retention_s);
    return reason_info(REASON_TRANSACTION_ID_EXPIRED)->status;
}

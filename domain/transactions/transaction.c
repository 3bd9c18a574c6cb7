/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction.c - stored bytes of steps and timelines, and the checks of what a caller submits.
 *
 * Steps and attempts are messages in the wire format behind one version byte, in the order of the fields'
 * numbers, every field written but for the last ones where there is nothing to say: so equal steps have equal bytes.
 */
#include "domain/transactions/transaction.h"

#include <stdlib.h>
#include <strings.h>

#include "base/digits.h"
#include "base/wire.h"
#include "domain/catalogue/table_name.h"
#include "domain/digest.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"

enum { VERSION = 1, ITEM = 1 };

enum step_field {
    STEP_KIND = 1,
    STEP_TABLE,
    STEP_PARTITION,
    STEP_ROW,
    STEP_PROPERTIES,
    STEP_TO_TABLE,
    STEP_TO_PARTITION,
    STEP_TO_ROW,
    STEP_CONDITION,
    STEP_ETAG_TABLE,
    STEP_ETAG_VERSION,
    STEP_CONDITION_TEXT, /* written if there is one */
    STEP_EXPIRES,        /* the same */
    STEP_ACCOUNT,        /* these two as well */
    STEP_TO_ACCOUNT,
    STEP_TABLE_ID,
    STEP_TO_TABLE_ID,
    STEP_ETAG_KEY, /* as well */
};

enum attempt_field {
    ATTEMPT_STEP = 1,
    ATTEMPT_NUMBER,
    ATTEMPT_WORKER,
    ATTEMPT_STARTED,
    ATTEMPT_ENDED,
    ATTEMPT_ETAG_BEFORE,
    ATTEMPT_ETAG_AFTER,
    ATTEMPT_STATUS,
    ATTEMPT_REASON,
    ATTEMPT_MESSAGE,
    ATTEMPT_LEFT_OPEN,
};

/* ---- lists of messages ---- */

typedef void write_item_fn(struct buf *out, const void *item);
typedef bool read_field_fn(void *item, const struct wire_field *field);

static struct str encode_list(
    const void *items, size_t count, size_t item_bytes, write_item_fn *write_item, struct arena *arena)
{
    struct buf out, message;

    buf_init(&out, arena);
    buf_append_byte(&out, VERSION);
    buf_init(&message, arena);
    for (size_t i = 0; i < count; i++) {
        message.len = 0;
        write_item(&message, (const char *)items + i * item_bytes);
        wire_write_bytes(&out, ITEM, buf_str(&message));
    }
    return buf_str(&out);
}

static bool read_message(struct str message, void *item, read_field_fn *read_field)
{
    struct wire_field field;
    enum wire_result result;

    while ((result = wire_read_field(&message, &field)) == WIRE_FIELD) {
        if (!read_field(item, &field))
            return false;
    }
    return result == WIRE_END;
}

static bool next_message(struct str *rest, struct str *message)
{
    struct wire_field field;

    if (wire_read_field(rest, &field) != WIRE_FIELD || field.number != ITEM || field.type != WIRE_BYTES)
        return false;
    *message = field.bytes;
    return true;
}

/* Items of item_bytes in the arena; their strings borrow the bytes. */
static bool decode_list(struct str bytes, size_t item_bytes, read_field_fn *read_field, struct arena *arena,
    void **out, size_t *count)
{
    struct str rest = str_from(bytes, 1), message;
    size_t found = 0;
    char *items;

    if (bytes.len == 0 || bytes.data[0] != VERSION)
        return false;
    for (; rest.len > 0; found++) {
        if (!next_message(&rest, &message))
            return false;
    }
    items = arena_calloc(arena, found, item_bytes);
    rest = str_from(bytes, 1);
    for (size_t i = 0; i < found; i++) {
        if (!next_message(&rest, &message) || !read_message(message, items + i * item_bytes, read_field))
            return false;
    }
    *out = items;
    *count = found;
    return true;
}

/* ---- steps ---- */

static void write_step(struct buf *out, const void *item)
{
    const struct step *step = item;

    wire_write_scalar(out, STEP_KIND, (uint64_t)step->kind);
    wire_write_bytes(out, STEP_TABLE, step->table);
    wire_write_bytes(out, STEP_PARTITION, step->key.partition);
    wire_write_bytes(out, STEP_ROW, step->key.row);
    wire_write_bytes(out, STEP_PROPERTIES, step->properties.bytes);
    wire_write_bytes(out, STEP_TO_TABLE, step->to_table);
    wire_write_bytes(out, STEP_TO_PARTITION, step->to_key.partition);
    wire_write_bytes(out, STEP_TO_ROW, step->to_key.row);
    wire_write_scalar(out, STEP_CONDITION, (uint64_t)step->condition.kind);
    wire_write_scalar(out, STEP_ETAG_TABLE, wire_zigzag(step->condition.etag.table_id));
    wire_write_scalar(out, STEP_ETAG_VERSION, wire_zigzag(step->condition.etag.version));
    if (step->condition.text.len > 0)
        wire_write_bytes(out, STEP_CONDITION_TEXT, step->condition.text);
    if (step->expires != 0)
        wire_write_scalar(out, STEP_EXPIRES, wire_zigzag(step->expires));
    if (step->account.len > 0)
        wire_write_bytes(out, STEP_ACCOUNT, step->account);
    if (step->to_account.len > 0)
        wire_write_bytes(out, STEP_TO_ACCOUNT, step->to_account);
    if (step->table_id != 0)
        wire_write_scalar(out, STEP_TABLE_ID, wire_zigzag(step->table_id));
    if (step->to_table_id != 0)
        wire_write_scalar(out, STEP_TO_TABLE_ID, wire_zigzag(step->to_table_id));
    if (step->condition.etag.key != 0)
        wire_write_scalar(out, STEP_ETAG_KEY, step->condition.etag.key);
}

static bool read_text(const struct wire_field *field, struct str *out)
{
    *out = field->bytes;
    return field->type == WIRE_BYTES;
}

static bool read_int64(const struct wire_field *field, int64_t *out)
{
    *out = wire_unzigzag(field->scalar);
    return field->type == WIRE_VARINT;
}

static bool read_int32(const struct wire_field *field, int32_t *out)
{
    int64_t wide = wire_unzigzag(field->scalar);

    *out = (int32_t)wide;
    return field->type == WIRE_VARINT && wide >= INT32_MIN && wide <= INT32_MAX;
}

static bool is_enum(const struct wire_field *field, uint64_t least, uint64_t most)
{
    return field->type == WIRE_VARINT && field->scalar >= least && field->scalar <= most;
}

static bool read_step_field(void *item, const struct wire_field *field)
{
    struct step *step = item;

    switch ((enum step_field)field->number) {
    case STEP_KIND:
        step->kind = (enum step_kind)field->scalar;
        return is_enum(field, STEP_INSERT_OR_REPLACE, STEP_MOVE);
    case STEP_TABLE:
        return read_text(field, &step->table);
    case STEP_PARTITION:
        return read_text(field, &step->key.partition);
    case STEP_ROW:
        return read_text(field, &step->key.row);
    case STEP_PROPERTIES:
        return read_text(field, &step->properties.bytes);
    case STEP_TO_TABLE:
        return read_text(field, &step->to_table);
    case STEP_TO_PARTITION:
        return read_text(field, &step->to_key.partition);
    case STEP_TO_ROW:
        return read_text(field, &step->to_key.row);
    case STEP_CONDITION:
        step->condition.kind = (enum condition_kind)field->scalar;
        return is_enum(field, CONDITION_NONE, CONDITION_MATCHES);
    case STEP_ETAG_TABLE:
        return read_int64(field, &step->condition.etag.table_id);
    case STEP_ETAG_VERSION:
        return read_int64(field, &step->condition.etag.version);
    case STEP_CONDITION_TEXT:
        return read_text(field, &step->condition.text);
    case STEP_EXPIRES:
        return read_int64(field, &step->expires);
    case STEP_ACCOUNT:
        return read_text(field, &step->account);
    case STEP_TO_ACCOUNT:
        return read_text(field, &step->to_account);
    case STEP_TABLE_ID:
        return read_int64(field, &step->table_id);
    case STEP_TO_TABLE_ID:
        return read_int64(field, &step->to_table_id);
    case STEP_ETAG_KEY:
        step->condition.etag.key = (uint32_t)field->scalar;
        return is_enum(field, 1, UINT32_MAX);
    }
    return false;
}

struct str transaction_encode_steps(const struct step *steps, size_t count, struct arena *arena)
{
    return encode_list(steps, count, sizeof(*steps), write_step, arena);
}

bool transaction_decode_steps(struct str bytes, struct arena *arena, struct step **out, size_t *count)
{
    void *items;

    if (!decode_list(bytes, sizeof(**out), read_step_field, arena, &items, count))
        return false;
    *out = items;
    for (size_t i = 0; i < *count; i++)
        if ((*out)[i].kind == 0)
            return false;
    return true;
}

/* Without what a repeat may have differently. */
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

static void write_attempt(struct buf *out, const void *item)
{
    const struct attempt *attempt = item;

    wire_write_scalar(out, ATTEMPT_STEP, wire_zigzag(attempt->step));
    wire_write_scalar(out, ATTEMPT_NUMBER, wire_zigzag(attempt->number));
    wire_write_bytes(out, ATTEMPT_WORKER, attempt->worker);
    wire_write_scalar(out, ATTEMPT_STARTED, wire_zigzag(attempt->started));
    wire_write_scalar(out, ATTEMPT_ENDED, wire_zigzag(attempt->ended));
    wire_write_bytes(out, ATTEMPT_ETAG_BEFORE, attempt->etag_before);
    wire_write_bytes(out, ATTEMPT_ETAG_AFTER, attempt->etag_after);
    wire_write_scalar(out, ATTEMPT_STATUS, (uint64_t)attempt->status);
    wire_write_bytes(out, ATTEMPT_REASON, attempt->reason);
    wire_write_bytes(out, ATTEMPT_MESSAGE, attempt->message);
    if (attempt->left_open.len > 0)
        wire_write_bytes(out, ATTEMPT_LEFT_OPEN, attempt->left_open);
}

static bool read_attempt_field(void *item, const struct wire_field *field)
{
    struct attempt *attempt = item;

    switch ((enum attempt_field)field->number) {
    case ATTEMPT_STEP:
        return read_int32(field, &attempt->step);
    case ATTEMPT_NUMBER:
        return read_int32(field, &attempt->number);
    case ATTEMPT_WORKER:
        return read_text(field, &attempt->worker);
    case ATTEMPT_STARTED:
        return read_int64(field, &attempt->started);
    case ATTEMPT_ENDED:
        return read_int64(field, &attempt->ended);
    case ATTEMPT_ETAG_BEFORE:
        return read_text(field, &attempt->etag_before);
    case ATTEMPT_ETAG_AFTER:
        return read_text(field, &attempt->etag_after);
    case ATTEMPT_STATUS:
        attempt->status = (enum status)field->scalar;
        return is_enum(field, STATUS_OK, STATUS_COUNT - 1);
    case ATTEMPT_REASON:
        return read_text(field, &attempt->reason);
    case ATTEMPT_MESSAGE:
        return read_text(field, &attempt->message);
    case ATTEMPT_LEFT_OPEN:
        return read_text(field, &attempt->left_open);
    }
    return false;
}

struct str transaction_encode_timeline(const struct attempt *attempts, size_t count, struct arena *arena)
{
    return encode_list(attempts, count, sizeof(*attempts), write_attempt, arena);
}

bool transaction_decode_timeline(struct str bytes, struct arena *arena, struct attempt **out, size_t *count)
{
    void *items;

    if (!decode_list(bytes, sizeof(**out), read_attempt_field, arena, &items, count))
        return false;
    *out = items;
    return true;
}

static int32_t next_number(const struct transaction *transaction, int32_t step)
{
    int32_t last = 0;

    for (size_t i = 0; i < transaction->attempt_count; i++)
        if (transaction->timeline[i].step == step && transaction->timeline[i].number > last)
            last = transaction->timeline[i].number;
    return last + 1;
}

/* The attempt that is missed least: the oldest that failed, or the oldest of all. */
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

/* ---- what is touched ---- */

int64_t transaction_key_digest(
    struct str owner, struct str account, struct str table, const struct entity_key *key)
{
    char folded[LIMIT_TABLE_NAME_MAX];
    size_t len = table.len < sizeof(folded) ? table.len : sizeof(folded);
    uint64_t digest = digest_of(0, account.len > 0 ? account : owner);

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

static bool same_table(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || strncasecmp(a.data, b.data, a.len) == 0);
}

static enum status check_step(const struct step *step, size_t number, struct error *err)
{
    const char *problem = NULL;

    if (step->kind < STEP_INSERT_OR_REPLACE || step->kind > STEP_MOVE)
        problem = "has no action; allowed are insert_or_replace, insert_or_merge, delete_if_exists and move";
    else if (step->kind == STEP_MOVE && same_table(step->table, step->to_table) &&
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

/* The milliseconds since 1970 in a UUIDv7 (RFC 9562); false: the id is none. */
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
        "the id's time is more than %lld seconds ago: whether it has run is no longer known",
        (long long)retention_s);
    error_add_meta_int(err, "limit", retention_s);
    return reason_info(REASON_TRANSACTION_ID_EXPIRED)->status;
}

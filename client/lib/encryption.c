/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encryption.c - properties that are encrypted before they leave the program. docs/client-encryption.md has the format.
 *
 * A lock guards the content keys: the current one, and those that were unwrapped before. Values are encrypted
 * outside of it.
 */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/digits.h"
#include "base/macros.h"
#include "client/lib/call_error.h"
#include "client/lib/key_ring.h"
#include "domain/catalogue/table_name.h"

enum {
    FORMAT = 1,                   /* the first byte of an encrypted value */
    HEAD_BYTES = 4,               /* the format, the length of the id, the length of the wrapped key */
    CONTENT_KEY_VALUES = 1 << 20, /* encrypted with one content key; random nonces repeat only near 2^32 */
    CONTENT_KEY_US = 300 * 1000000,
    REMEMBERED_KEYS = 64, /* content keys that are kept unwrapped */
    GUID_DIGITS = 32,
    HASH_BYTES = 32,
    TICKS_PER_S = 10000000,
    NANOS_PER_TICK = 100,
};

struct content_key {
    uint8_t bytes[TAVOLA_CONTENT_KEY_BYTES];
    struct tavola_wrapped_key wrapped; /* size 0: there is none */
};

struct tavola_encryption {
    char *account;
    struct key_ring ring;
    tavola_wrap_fn *wrap;
    tavola_unwrap_fn *unwrap;
    void *context;
    bool has_blind_key;
    uint8_t blind_key[TAVOLA_CONTENT_KEY_BYTES];

    pthread_mutex_t lock; /* guards what follows */
    struct content_key current;
    int uses_left;
    int64_t current_until_us;
    struct content_key remembered[REMEMBERED_KEYS];
    size_t next_remembered; /* the slot that is overwritten next */
};

/* Where a value lies: what it is bound to. */
struct value_home {
    struct tavola_encryption *encryption;
    const char *table;
    struct tavola_key key;
    const char *property;
};

/* ---- opening ---- */

enum tavola_code tavola_encryption_open(const struct tavola_encryption_options *options,
    struct tavola_encryption **out, struct tavola_error *error)
{
    struct tavola_error own;
    bool has_functions = options->wrap && options->unwrap;
    struct tavola_encryption *made;

    error = call_error_begin(error, &own);
    if (!options->account || !options->key_file == !has_functions)
        return call_error_set(error, TAVOLA_INVALID_ARGUMENT,
            "an account is needed, and either a key file or the functions wrap and unwrap");
    made = xcalloc(1, sizeof(*made));
    if (options->key_file && key_ring_read(options->key_file, &made->ring, error) != TAVOLA_OK) {
        free(made);
        return error->code;
    }
    made->account = strdup(options->account);
    made->wrap = has_functions ? options->wrap : key_ring_wrap;
    made->unwrap = has_functions ? options->unwrap : key_ring_unwrap;
    made->context = has_functions ? options->context : &made->ring;
    made->has_blind_key = options->blind_key != NULL;
    if (options->blind_key)
        memcpy(made->blind_key, options->blind_key, sizeof(made->blind_key));
    pthread_mutex_init(&made->lock, NULL);
    *out = made;
    return TAVOLA_OK;
}

void tavola_encryption_free(struct tavola_encryption *encryption)
{
    if (!encryption)
        return;
    pthread_mutex_destroy(&encryption->lock);
    free(encryption->account);
    OPENSSL_cleanse(encryption, sizeof(*encryption));
    free(encryption);
}

/* ---- content keys ---- */

static bool has_wrapped(const struct content_key *key, const struct tavola_wrapped_key *wrapped)
{
    return key->wrapped.size == wrapped->size && strcmp(key->wrapped.key_id, wrapped->key_id) == 0 &&
           memcmp(key->wrapped.bytes, wrapped->bytes, wrapped->size) == 0;
}

static bool renew_current(struct tavola_encryption *encryption)
{
    struct content_key made = { .wrapped.size = 0 };

    if (RAND_bytes(made.bytes, sizeof(made.bytes)) != 1 ||
        !encryption->wrap(encryption->context, made.bytes, &made.wrapped))
        return false;
    encryption->current = made;
    encryption->uses_left = CONTENT_KEY_VALUES;
    encryption->current_until_us = clock_monotonic_us() + CONTENT_KEY_US;
    OPENSSL_cleanse(made.bytes, sizeof(made.bytes));
    return true;
}

/* Copy the content key for one more value. */
static bool use_current(struct tavola_encryption *encryption, struct content_key *out)
{
    bool good = true;

    pthread_mutex_lock(&encryption->lock);
    if (encryption->uses_left == 0 || clock_monotonic_us() >= encryption->current_until_us)
        good = renew_current(encryption);
    if (good) {
        encryption->uses_left--;
        *out = encryption->current;
    }
    pthread_mutex_unlock(&encryption->lock);
    return good;
}

static enum tavola_code unwrap_and_remember(struct tavola_encryption *encryption, struct content_key *key)
{
    enum tavola_code code = encryption->unwrap(encryption->context, &key->wrapped, key->bytes);

    if (code != TAVOLA_OK)
        return code;
    encryption->remembered[encryption->next_remembered] = *key;
    encryption->next_remembered = (encryption->next_remembered + 1) % REMEMBERED_KEYS;
    return TAVOLA_OK;
}

/* Fill the bytes of a key whose wrapped form is known. */
static enum tavola_code find_content_key(struct tavola_encryption *encryption, struct content_key *key)
{
    enum tavola_code code = TAVOLA_OK;
    size_t i = 0;

    pthread_mutex_lock(&encryption->lock);
    while (i < REMEMBERED_KEYS && !has_wrapped(&encryption->remembered[i], &key->wrapped))
        i++;
    if (i < REMEMBERED_KEYS)
        memcpy(key->bytes, encryption->remembered[i].bytes, sizeof(key->bytes));
    else
        code = unwrap_and_remember(encryption, key);
    pthread_mutex_unlock(&encryption->lock);
    return code;
}

/* ---- values as bytes: a byte for the type, and the value ---- */

static void append_big_endian(struct buf *out, uint64_t number, int bytes)
{
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        buf_append_byte(out, (uint8_t)(number >> shift));
}

static uint64_t read_big_endian(struct str bytes)
{
    uint64_t number = 0;

    for (size_t i = 0; i < bytes.len; i++)
        number = number << 8 | (uint8_t)bytes.data[i];
    return number;
}

/* The digits without the dashes. */
static bool append_guid(struct buf *out, struct str text)
{
    char digits[GUID_DIGITS], bytes[GUID_DIGITS / 2];
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] != '-' && count++ < GUID_DIGITS)
            digits[count - 1] = text.data[i];
    if (count != GUID_DIGITS || !digits_decode_hex(str_of_bytes(digits, GUID_DIGITS), bytes))
        return false;
    buf_append(out, str_of_bytes(bytes, sizeof(bytes)));
    return true;
}

static bool append_value(struct buf *out, const struct tavola_value *value)
{
    uint64_t bits;

    buf_append_byte(out, (uint8_t)value->type);
    switch (value->type) {
    case TAVOLA_STRING:
    case TAVOLA_BINARY:
        buf_append(out, str_of_bytes(value->data, value->size));
        return true;
    case TAVOLA_BOOLEAN:
        buf_append_byte(out, value->integer != 0);
        return true;
    case TAVOLA_INT32:
    case TAVOLA_INT64:
        append_big_endian(out, (uint64_t)value->integer, value->type == TAVOLA_INT32 ? 4 : 8);
        return true;
    case TAVOLA_DOUBLE:
        memcpy(&bits, &value->number, sizeof(bits));
        append_big_endian(out, bits, 8);
        return true;
    case TAVOLA_DATETIME:
        append_big_endian(
            out, (uint64_t)(value->time.seconds * TICKS_PER_S + value->time.nanos / NANOS_PER_TICK), 8);
        return true;
    case TAVOLA_GUID:
        return append_guid(out, str_of_bytes(value->data, value->size));
    case TAVOLA_NULL:
        break;
    }
    return false;
}

static struct str guid_text(struct str bytes, struct arena *arena)
{
    char digits[GUID_DIGITS];

    digits_encode_hex(bytes, digits);
    return arena_format(
        arena, "%.8s-%.4s-%.4s-%.4s-%.12s", digits, digits + 8, digits + 12, digits + 16, digits + 20);
}

static struct tavola_time time_of(int64_t ticks)
{
    int64_t seconds = ticks / TICKS_PER_S, rest = ticks % TICKS_PER_S;

    if (rest < 0) {
        seconds--;
        rest += TICKS_PER_S;
    }
    return (struct tavola_time){ seconds, (int32_t)(rest * NANOS_PER_TICK) };
}

/* The number of bytes behind the type; -1: any number. */
static int bytes_of(enum tavola_type type)
{
    static const int bytes[] = { [TAVOLA_STRING] = -1,
        [TAVOLA_BOOLEAN] = 1,
        [TAVOLA_INT32] = 4,
        [TAVOLA_INT64] = 8,
        [TAVOLA_DOUBLE] = 8,
        [TAVOLA_DATETIME] = 8,
        [TAVOLA_GUID] = 16,
        [TAVOLA_BINARY] = -1 };

    return (size_t)type < ARRAY_LEN(bytes) ? bytes[type] : 0;
}

/* *out borrows from the bytes, or from the arena. */
static bool read_value(struct str bytes, struct arena *arena, struct tavola_value *out)
{
    enum tavola_type type = bytes.len > 0 ? (enum tavola_type)bytes.data[0] : TAVOLA_NULL;
    struct str body = str_from(bytes, bytes.len > 0);
    uint64_t number = bytes_of(type) > 0 && body.len <= 8 ? read_big_endian(body) : 0;

    if (type == TAVOLA_NULL || bytes_of(type) == 0 ||
        (bytes_of(type) > 0 && (size_t)bytes_of(type) != body.len))
        return false;
    *out = (struct tavola_value){ .type = type, .integer = (int64_t)number };
    if (type == TAVOLA_INT32)
        out->integer = (int32_t)number;
    if (type == TAVOLA_DOUBLE)
        memcpy(&out->number, &number, sizeof(number));
    if (type == TAVOLA_DATETIME)
        out->time = time_of((int64_t)number);
    if (type == TAVOLA_GUID)
        body = guid_text(body, arena);
    if (type == TAVOLA_STRING || type == TAVOLA_BINARY || type == TAVOLA_GUID) {
        out->data = body.data;
        out->size = body.len;
    }
    return true;
}

/* ---- encrypted values ---- */

/* use: what the bound bytes are for. Behind it account and table, whose name the service takes in any case. */
static void begin_bound(struct buf *out, const char *use, const struct value_home *home, struct arena *arena)
{
    buf_init(out, arena);
    key_ring_bind(out, str_of(use));
    key_ring_bind(out, str_of(home->encryption->account));
    key_ring_bind(out, table_name_fold(str_of(home->table), arena));
}

static struct str bound_to(const struct value_home *home, struct arena *arena)
{
    struct buf out;

    begin_bound(&out, "tavola.value.1", home, arena);
    key_ring_bind(&out, str_of(home->key.partition));
    key_ring_bind(&out, str_of(home->key.row));
    key_ring_bind(&out, str_of(home->property));
    return buf_str(&out);
}

static enum tavola_code refuse_value(
    const struct value_home *home, const char *why, struct tavola_error *error)
{
    return call_error_set(error, TAVOLA_DATA_LOSS, "table %s, entity '%s'/'%s', property %s: %s", home->table,
        home->key.partition, home->key.row, home->property, why);
}

static struct str seal_value(
    const struct value_home *home, const struct content_key *key, struct str plain, struct arena *arena)
{
    size_t id_len = strlen(key->wrapped.key_id), sealed_len = plain.len + AEAD_EXTRA_BYTES;
    uint8_t nonce[AEAD_NONCE_BYTES];
    struct str bound = bound_to(home, arena);
    struct buf out;

    if (RAND_bytes(nonce, sizeof(nonce)) != 1)
        return STR_EMPTY;
    buf_init(&out, arena);
    buf_append_byte(&out, FORMAT);
    buf_append_byte(&out, (uint8_t)id_len);
    buf_append(&out, str_of_bytes(key->wrapped.key_id, id_len));
    append_big_endian(&out, key->wrapped.size, 2);
    buf_append(&out, str_of_bytes(key->wrapped.bytes, key->wrapped.size));
    aead_seal(key->bytes, nonce, bound, plain, (uint8_t *)buf_extend(&out, sealed_len));
    return buf_str(&out);
}

/* Divide an encrypted value into its parts. false: the bytes are not one. */
static bool divide_sealed(
    const struct tavola_value *value, struct tavola_wrapped_key *wrapped, struct str *sealed)
{
    const uint8_t *bytes = (const uint8_t *)value->data;
    size_t id_len, at;

    if (value->type != TAVOLA_BINARY || value->size < HEAD_BYTES || bytes[0] != FORMAT)
        return false;
    id_len = bytes[1];
    at = 2 + id_len;
    if (id_len > TAVOLA_MAX_KEY_ID || value->size < at + 2)
        return false;
    memcpy(wrapped->key_id, bytes + 2, id_len);
    wrapped->key_id[id_len] = '\0';
    wrapped->size = (size_t)bytes[at] << 8 | bytes[at + 1];
    at += 2;
    if (wrapped->size > TAVOLA_MAX_WRAPPED_BYTES || value->size < at + wrapped->size + AEAD_EXTRA_BYTES)
        return false;
    memcpy(wrapped->bytes, bytes + at, wrapped->size);
    *sealed = str_from(str_of_bytes(value->data, value->size), at + wrapped->size);
    return true;
}

/* ---- one property ---- */

typedef enum tavola_code change_fn(const struct value_home *home, const struct tavola_value *value,
    struct arena *arena, struct tavola_value *out, struct tavola_error *error);

static enum tavola_code encrypt_value(const struct value_home *home, const struct tavola_value *value,
    struct arena *arena, struct tavola_value *out, struct tavola_error *error)
{
    struct content_key key;
    struct str sealed;
    struct buf plain;

    buf_init(&plain, arena);
    if (!append_value(&plain, value))
        return call_error_set(
            error, TAVOLA_INVALID_ARGUMENT, "property %s has no value that can be encrypted", home->property);
    if (!use_current(home->encryption, &key))
        return call_error_set(error, TAVOLA_UNAVAILABLE, "a content key cannot be made or wrapped");
    sealed = seal_value(home, &key, buf_str(&plain), arena);
    OPENSSL_cleanse(key.bytes, sizeof(key.bytes));
    if (sealed.len == 0)
        return call_error_set(error, TAVOLA_UNAVAILABLE, "there are no random bytes");
    *out = (struct tavola_value){ .type = TAVOLA_BINARY, .data = sealed.data, .size = sealed.len };
    return TAVOLA_OK;
}

static enum tavola_code decrypt_value(const struct value_home *home, const struct tavola_value *value,
    struct arena *arena, struct tavola_value *out, struct tavola_error *error)
{
    struct content_key key;
    enum tavola_code code;
    struct str sealed;
    uint8_t *plain;
    char why[128];
    bool good;

    if (!divide_sealed(value, &key.wrapped, &sealed))
        return refuse_value(home, "not an encrypted value", error);
    code = find_content_key(home->encryption, &key);
    if (code == TAVOLA_NOT_FOUND) {
        snprintf(why, sizeof(why), "encrypted with key %s, which is not there", key.wrapped.key_id);
        return refuse_value(home, why, error);
    }
    plain = arena_alloc(arena, sealed.len);
    good = code == TAVOLA_OK && aead_open(key.bytes, bound_to(home, arena), sealed, plain) &&
           read_value(str_of_bytes(plain, sealed.len - AEAD_EXTRA_BYTES), arena, out);
    OPENSSL_cleanse(key.bytes, sizeof(key.bytes));
    return good ? TAVOLA_OK
                : refuse_value(
                      home, "changed, or written for another account, table, entity or property", error);
}

/* ---- entities ---- */

/* Change the named properties in a copy of the values first, so that an error leaves the entity as it was. */
static enum tavola_code change_properties(struct value_home home, const char *const *names,
    struct tavola_entity *entity, change_fn *change, struct tavola_error *error)
{
    enum tavola_code code = TAVOLA_OK;
    struct tavola_value *changed;
    struct arena arena;
    size_t count = 0;

    while (names[count])
        count++;
    arena_init(&arena);
    changed = ARENA_ARRAY(&arena, struct tavola_value, count + 1);
    home.key = tavola_entity_key(entity);
    for (size_t i = 0; i < count && code == TAVOLA_OK; i++) {
        const struct tavola_value *value = tavola_entity_get(entity, names[i]);

        home.property = names[i];
        if (value && value->type != TAVOLA_NULL)
            code = change(&home, value, &arena, &changed[i], error);
    }
    for (size_t i = 0; i < count && code == TAVOLA_OK; i++)
        if (changed[i].type != TAVOLA_NULL)
            tavola_entity_set(entity, names[i], &changed[i]);
    arena_cleanup(&arena);
    return code;
}

enum tavola_code tavola_encrypt(struct tavola_encryption *encryption, const char *table,
    const char *const *names, struct tavola_entity *entity, struct tavola_error *error)
{
    struct value_home home = { .encryption = encryption, .table = table };
    struct tavola_error own;

    error = call_error_begin(error, &own);
    return change_properties(home, names, entity, encrypt_value, error);
}

enum tavola_code tavola_decrypt(struct tavola_encryption *encryption, const char *table,
    const char *const *names, struct tavola_entity *entity, struct tavola_error *error)
{
    struct value_home home = { .encryption = encryption, .table = table };
    struct tavola_error own;

    error = call_error_begin(error, &own);
    return change_properties(home, names, entity, decrypt_value, error);
}

bool tavola_is_outdated(
    struct tavola_encryption *encryption, const char *const *names, const struct tavola_entity *entity)
{
    struct tavola_wrapped_key wrapped;
    struct content_key current;
    bool outdated = false;
    struct str sealed;

    if (!use_current(encryption, &current))
        return false;
    for (; *names && !outdated; names++) {
        const struct tavola_value *value = tavola_entity_get(entity, *names);

        outdated =
            value && value->type != TAVOLA_NULL &&
            (!divide_sealed(value, &wrapped, &sealed) || strcmp(wrapped.key_id, current.wrapped.key_id) != 0);
    }
    OPENSSL_cleanse(current.bytes, sizeof(current.bytes));
    return outdated;
}

/* ---- digests ---- */

enum tavola_code tavola_blind(struct tavola_encryption *encryption, const char *table, const char *property,
    const struct tavola_value *value, char *out, struct tavola_error *error)
{
    struct value_home home = { .encryption = encryption, .table = table, .property = property };
    struct tavola_value alike = *value;
    uint8_t hash[HASH_BYTES];
    struct buf bound, plain;
    struct tavola_error own;
    struct arena arena;
    bool good;

    error = call_error_begin(error, &own);
    if (value->type == TAVOLA_INT32)
        alike.type = TAVOLA_INT64;
    arena_init(&arena);
    buf_init(&plain, &arena);
    good = encryption->has_blind_key && append_value(&plain, &alike);
    if (good) {
        begin_bound(&bound, "tavola.blind.1", &home, &arena);
        key_ring_bind(&bound, str_of(property));
        key_ring_bind(&bound, buf_str(&plain));
        good = HMAC(EVP_sha256(), encryption->blind_key, sizeof(encryption->blind_key),
                   (const uint8_t *)bound.data, bound.len, hash, NULL) != NULL;
        digits_encode_hex(str_of_bytes(hash, TAVOLA_DIGEST_DIGITS / 2), out);
        out[TAVOLA_DIGEST_DIGITS] = '\0';
    }
    arena_cleanup(&arena);
    return good ? TAVOLA_OK
                : call_error_set(error, TAVOLA_INVALID_ARGUMENT,
                      "there is no blind_key, or property %s has no value", property);
}

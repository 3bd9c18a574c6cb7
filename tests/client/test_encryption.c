/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_encryption.c - tests/vectors/encryption.json: values that each client has made are read here, and what libtavola
 * makes opens only where it was written.
 */
#include <check.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digits.h"
#include "client/lib/tavola.h"

static const char *const names[] = { "Secret", "Other", NULL };
static const char blind_key[] = "32 bytes that nobody else knows.";
static json_t *vectors;
static struct tavola_error error;

static struct tavola_encryption *open_with(const char *account, const char *keys)
{
    struct tavola_encryption_options options = { .account = account,
        .blind_key = (const unsigned char *)blind_key };
    struct tavola_encryption *opened = NULL;
    char path[] = "/tmp/test_encryption_XXXXXX";
    int file = mkstemp(path);

    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, keys, strlen(keys)), (ssize_t)strlen(keys));
    close(file);
    options.key_file = path;
    tavola_encryption_open(&options, &opened, &error);
    unlink(path);
    return opened;
}

static void setup(void)
{
    json_error_t where;

    vectors = json_load_file(VECTORS_FOLDER "/encryption.json", 0, &where);
    ck_assert_msg(vectors != NULL, "line %d: %s", where.line, where.text);
}

static void teardown(void)
{
    json_decref(vectors);
}

static const char *text_of(const json_t *vector, const char *member)
{
    return json_string_value(json_object_get(vector, member));
}

static const char *where_of(const json_t *vector, size_t part)
{
    return json_string_value(json_array_get(json_object_get(vector, "where"), part));
}

/* Keys of a device that "wraps" by reversing the bytes. */
static bool wrap_reversed(void *context, const unsigned char *content_key, struct tavola_wrapped_key *out)
{
    (void)context;
    strcpy(out->key_id, "hsm7");
    out->size = TAVOLA_CONTENT_KEY_BYTES;
    for (size_t i = 0; i < out->size; i++)
        out->bytes[i] = content_key[out->size - 1 - i];
    return true;
}

static enum tavola_code unwrap_reversed(
    void *context, const struct tavola_wrapped_key *wrapped, unsigned char *content_key)
{
    int *calls = context;

    if (calls)
        ++*calls;
    if (strcmp(wrapped->key_id, "hsm7") != 0)
        return TAVOLA_NOT_FOUND;
    for (size_t i = 0; i < wrapped->size; i++)
        content_key[i] = wrapped->bytes[wrapped->size - 1 - i];
    return TAVOLA_OK;
}

static struct tavola_encryption *open_vectors(void)
{
    struct tavola_encryption *opened = open_with(text_of(vectors, "account"), text_of(vectors, "keys"));

    ck_assert_msg(opened != NULL, "%s", error.message);
    return opened;
}

/* The value of a vector as text that tavola_entity_set_text takes. */
static const char *text_of_value(const json_t *vector, char *out, size_t size)
{
    const json_t *value = json_object_get(vector, "value");
    unsigned char bytes[64];
    struct str hex;

    if (strcmp(text_of(vector, "type"), "binary") == 0) {
        hex = str_of(json_string_value(value));
        ck_assert(digits_decode_hex(hex, (char *)bytes));
        EVP_EncodeBlock((unsigned char *)out, bytes, (int)hex.len / 2);
    } else if (json_is_string(value)) {
        snprintf(out, size, "%s", json_string_value(value));
    } else if (json_is_boolean(value)) {
        snprintf(out, size, "%s", json_is_true(value) ? "true" : "false");
    } else {
        snprintf(out, size, "%.17g", json_number_value(value));
    }
    return out;
}

static struct tavola_entity *entity_with(
    struct tavola_key key, const char *name, const char *type, const char *text)
{
    struct tavola_entity *entity = tavola_entity_new(key);

    ck_assert_msg(tavola_entity_set_text(entity, name, type, text, &error) == TAVOLA_OK, "%s", error.message);
    return entity;
}

static void assert_same(const struct tavola_entity *got, const struct tavola_entity *want)
{
    char *got_json = tavola_entity_to_json(got), *want_json = tavola_entity_to_json(want);

    ck_assert_str_eq(got_json, want_json);
    tavola_free(got_json);
    tavola_free(want_json);
}

START_TEST(values_of_every_client_are_read)
{
    struct tavola_encryption *encryption = open_vectors();
    const json_t *vector;
    size_t i;

    json_array_foreach(json_object_get(vectors, "values"), i, vector)
    {
        struct tavola_key key = TAVOLA_KEY(where_of(vector, 1), where_of(vector, 2));
        const char *const name[] = { where_of(vector, 3), NULL };
        char text[128];
        struct tavola_entity *stored = entity_with(key, name[0], "Binary", text_of(vector, "stored"));
        struct tavola_entity *plain =
            entity_with(key, name[0], text_of(vector, "type"), text_of_value(vector, text, sizeof(text)));

        ck_assert_msg(tavola_decrypt(encryption, where_of(vector, 0), name, stored, &error) == TAVOLA_OK,
            "%s", error.message);
        assert_same(stored, plain);
        ck_assert_int_eq(tavola_encrypt(encryption, "PEOPLE", name, stored, &error), TAVOLA_OK);
        ck_assert_int_eq(tavola_entity_get(stored, name[0])->type, TAVOLA_BINARY);
        ck_assert_int_eq(tavola_decrypt(encryption, "people", name, stored, &error), TAVOLA_OK);
        assert_same(stored, plain);
        tavola_entity_free(stored);
        tavola_entity_free(plain);
    }
    ck_assert_uint_gt(i, 20);
    tavola_encryption_free(encryption);
}
END_TEST

START_TEST(digests_are_those_of_every_client)
{
    struct tavola_encryption_options options = { .account = text_of(vectors, "account") };
    unsigned char key[33];
    struct tavola_encryption *encryption;
    const json_t *vector;
    char text[128], digest[TAVOLA_DIGEST_DIGITS + 1];
    size_t i;

    ck_assert_int_eq(EVP_DecodeBlock(key, (const unsigned char *)text_of(vectors, "blind_key"), 44), 33);
    options.blind_key = key;
    options.wrap = wrap_reversed;
    options.unwrap = unwrap_reversed;
    ck_assert_int_eq(tavola_encryption_open(&options, &encryption, &error), TAVOLA_OK);
    json_array_foreach(json_object_get(vectors, "digests"), i, vector)
    {
        struct tavola_entity *plain = entity_with(
            TAVOLA_KEY("p", "r"), "V", text_of(vector, "type"), text_of_value(vector, text, sizeof(text)));

        ck_assert_int_eq(tavola_blind(encryption, text_of(vector, "table"), text_of(vector, "property"),
                             tavola_entity_get(plain, "V"), digest, &error),
            TAVOLA_OK);
        ck_assert_str_eq(digest, text_of(vector, "digest"));
        tavola_entity_free(plain);
    }
    ck_assert_uint_gt(i, 5);
    tavola_encryption_free(encryption);
}
END_TEST

/* An entity of people, sales/1, whose properties Secret and Other are encrypted. */
static struct tavola_entity *encrypted_entity(struct tavola_encryption *encryption)
{
    struct tavola_entity *entity = tavola_entity_new(TAVOLA_KEY("sales", "1"));

    tavola_entity_set_string(entity, "Secret", "ada@sales.example");
    tavola_entity_set_int32(entity, "Other", 7);
    ck_assert_int_eq(tavola_encrypt(encryption, "people", names, entity, &error), TAVOLA_OK);
    return entity;
}

/* The two encrypted properties of an entity under another key. */
static struct tavola_entity *moved(const struct tavola_entity *entity, struct tavola_key key)
{
    struct tavola_entity *made = tavola_entity_new(key);

    for (size_t i = 0; names[i]; i++)
        tavola_entity_set(made, names[i], tavola_entity_get(entity, names[i]));
    return made;
}

static void assert_refused(
    struct tavola_encryption *encryption, const char *table, struct tavola_entity *entity, const char *why)
{
    struct tavola_entity *before = tavola_entity_copy(entity);

    ck_assert_int_eq(tavola_decrypt(encryption, table, names, entity, &error), TAVOLA_DATA_LOSS);
    ck_assert_msg(strstr(error.message, why) != NULL, "%s", error.message);
    assert_same(entity, before);
    tavola_entity_free(before);
    tavola_entity_free(entity);
}

START_TEST(a_value_opens_only_where_it_was_written)
{
    struct tavola_encryption *encryption = open_vectors();
    struct tavola_encryption *other = open_with("other", text_of(vectors, "keys"));
    struct tavola_entity *entity = encrypted_entity(encryption), *swapped;

    assert_refused(encryption, "people2", tavola_entity_copy(entity), "written for another");
    assert_refused(encryption, "people", moved(entity, TAVOLA_KEY("sales", "2")), "written for another");
    assert_refused(encryption, "people", moved(entity, TAVOLA_KEY("sale", "1")), "written for another");
    assert_refused(other, "people", tavola_entity_copy(entity), "written for another account");
    swapped = moved(entity, TAVOLA_KEY("sales", "1"));
    tavola_entity_set(swapped, "Other", tavola_entity_get(entity, "Secret"));
    assert_refused(encryption, "people", swapped, "property Other: changed, or written for another");
    tavola_entity_free(entity);
    tavola_encryption_free(other);
    tavola_encryption_free(encryption);
}
END_TEST

START_TEST(a_changed_or_cut_value_is_refused)
{
    struct tavola_encryption *encryption = open_vectors();
    struct tavola_entity *entity = encrypted_entity(encryption);
    const struct tavola_value *value = tavola_entity_get(entity, "Secret");
    char bytes[512];

    ck_assert_uint_lt(value->size, sizeof(bytes));
    for (size_t at = 0; at < value->size; at++) {
        struct tavola_entity *changed = tavola_entity_copy(entity), *cut = tavola_entity_copy(entity);

        memcpy(bytes, value->data, value->size);
        bytes[at] ^= 1;
        tavola_entity_set_binary(changed, "Secret", bytes, value->size);
        assert_refused(encryption, "people", changed, "property Secret");
        tavola_entity_set_binary(cut, "Secret", value->data, at);
        assert_refused(encryption, "people", cut, "property Secret");
    }
    tavola_entity_set_string(entity, "Secret", "plain");
    assert_refused(encryption, "people", entity, "not an encrypted value");
    tavola_encryption_free(encryption);
}
END_TEST

START_TEST(a_key_that_is_gone_is_named_and_a_rotated_one_is_seen)
{
    static const char old_ring[] = "k1 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
    static const char both_rings[] =
        "# the new one first\n\nk2 ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=\n"
        "k1 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
    struct tavola_encryption *before = open_with("acme", old_ring), *between = open_with("acme", both_rings);
    struct tavola_encryption *other = open_vectors();
    struct tavola_entity *entity = encrypted_entity(before);

    assert_refused(other, "people", tavola_entity_copy(entity), "encrypted with key k1, which is not there");
    ck_assert(!tavola_is_outdated(before, names, entity));
    ck_assert(tavola_is_outdated(between, names, entity));
    ck_assert_int_eq(tavola_decrypt(between, "people", names, entity, &error), TAVOLA_OK);
    ck_assert(tavola_is_outdated(between, names, entity));
    ck_assert_int_eq(tavola_encrypt(between, "people", names, entity, &error), TAVOLA_OK);
    ck_assert(!tavola_is_outdated(between, names, entity));
    assert_refused(before, "people", entity, "encrypted with key k2");
    tavola_encryption_free(before);
    tavola_encryption_free(between);
    tavola_encryption_free(other);
}
END_TEST

START_TEST(a_device_unwraps_each_content_key_once)
{
    int calls = 0;
    struct tavola_encryption_options options = {
        .account = "acme", .wrap = wrap_reversed, .unwrap = unwrap_reversed, .context = &calls
    };
    struct tavola_encryption *encryption;

    ck_assert_int_eq(tavola_encryption_open(&options, &encryption, &error), TAVOLA_OK);
    for (int round = 0; round < 10; round++) {
        struct tavola_entity *entity = encrypted_entity(encryption);

        ck_assert_int_eq(tavola_decrypt(encryption, "people", names, entity, &error), TAVOLA_OK);
        ck_assert_str_eq(tavola_entity_string(entity, "Secret", ""), "ada@sales.example");
        tavola_entity_free(entity);
    }
    ck_assert_int_eq(calls, 1);
    tavola_encryption_free(encryption);
}
END_TEST

START_TEST(wrong_options_and_key_files_are_refused)
{
    static const struct {
        const char *keys, *why;
    } files[] = {
        { "", "has no key" },
        { "a\n", "line 1: not a key id" },
        { "# c\n\na !!\n", "line 3: not a key id" },
        { "a QUJD\n", "line 1: not a key id and 32 bytes" },
        { "\xc3\xa9 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n", "line 1" },
    };
    struct tavola_encryption_options options = { .account = "acme" };
    struct tavola_encryption *encryption;
    char digest[TAVOLA_DIGEST_DIGITS + 1];
    struct tavola_value value = TAVOLA_TEXT("x");

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        ck_assert_ptr_null(open_with("acme", files[i].keys));
        ck_assert_msg(strstr(error.message, files[i].why) != NULL, "%s", error.message);
    }
    ck_assert_int_eq(tavola_encryption_open(&options, &encryption, &error), TAVOLA_INVALID_ARGUMENT);
    options.key_file = "/no/such/file";
    ck_assert_int_eq(tavola_encryption_open(&options, &encryption, &error), TAVOLA_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.message, "/no/such/file cannot be read") != NULL, "%s", error.message);
    options.wrap = wrap_reversed;
    options.unwrap = unwrap_reversed;
    ck_assert_int_eq(tavola_encryption_open(&options, &encryption, &error), TAVOLA_INVALID_ARGUMENT);
    options.key_file = NULL;
    ck_assert_int_eq(tavola_encryption_open(&options, &encryption, &error), TAVOLA_OK);
    ck_assert_int_eq(
        tavola_blind(encryption, "people", "Email", &value, digest, &error), TAVOLA_INVALID_ARGUMENT);
    tavola_encryption_free(encryption);
    tavola_encryption_free(NULL);
}
END_TEST

Suite *test_encryption_suite(void);

Suite *test_encryption_suite(void)
{
    Suite *suite = suite_create("encryption");
    TCase *tc = tcase_create("vectors");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, values_of_every_client_are_read);
    tcase_add_test(tc, digests_are_those_of_every_client);
    tcase_add_test(tc, a_value_opens_only_where_it_was_written);
    tcase_add_test(tc, a_changed_or_cut_value_is_refused);
    tcase_add_test(tc, a_key_that_is_gone_is_named_and_a_rotated_one_is_seen);
    tcase_add_test(tc, a_device_unwraps_each_content_key_once);
    tcase_add_test(tc, wrong_options_and_key_files_are_refused);
    suite_add_tcase(suite, tc);
    return suite;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* test_credential.c - signing and reading credentials, and the permissions that follow from them. */
#include "domain/access/credential.h"

#include <check.h>

#include "domain/catalogue/catalogue.h"
#include "domain/limits.h"
#include "domain/ticks.h"
#include "tests/support/catalogues.h"

#define SECOND TICKS_PER_SECOND

static const int64_t now = INT64_C(134000000000000000);
static const struct account acme = {
    .name = { "acme", 4 }, .id = { "acme#7", 6 }, .keys = { { { 1, 2, 3 } }, { { 4, 5, 6 } } }
};
static const struct account_key other_key = { { 7 } };
static struct arena arena;

/* People, created an hour ago, with a policy that sets everything and one that sets nothing. */
static struct access_policy policy_items[] = {
    { .id = { "whole", 5 },
        .start = INT64_C(134000000000000000) - 100 * SECOND,
        .expiry = INT64_C(134000000000000000) + 100 * SECOND,
        .permissions = PERMISSION_READ },
    { .id = { "bare", 4 } },
    { .id = { "over", 4 }, .expiry = INT64_C(134000000000000000) - 1, .permissions = PERMISSION_READ },
};
static struct table people = { .table_id = 7,
    .account = { "acme#7", 6 },
    .name = { "People", 6 },
    .folded = { "people", 6 },
    .created = INT64_C(134000000000000000) - 3600 * SECOND,
    .policies = { policy_items, 3 } };
static struct table *const tables[] = { &people };
static struct catalogue *catalogue;

static void setup(void)
{
    arena_init(&arena);
    catalogue = a_catalogue_of(tables, 1);
}

static void teardown(void)
{
    catalogue_release(catalogue);
    arena_cleanup(&arena);
}

static struct credential a_token(void)
{
    return (struct credential){
        .kind = CREDENTIAL_TOKEN, .account = acme.name, .issued = now - SECOND, .expiry = now + 60 * SECOND
    };
}

static struct credential a_signature(void)
{
    return (struct credential){
        .kind = CREDENTIAL_SIGNATURE,
        .account = acme.name,
        .issued = now - SECOND,
        .expiry = now + 60 * SECOND,
        .table = STR_LITERAL("people"),
        .permissions = PERMISSION_READ,
    };
}

static struct credential everything_set(void)
{
    struct credential all = a_signature();

    all.start = now - 2 * SECOND;
    all.policy = STR_LITERAL("bare");
    all.has_source = network_range_parse(str_of("10.0.0.1-10.0.0.9"), &all.source);
    all.range = (struct key_range){ .has_low = true,
        .has_high = true,
        .high_has_row = true,
        .low = { STR_LITERAL("a"), STR_LITERAL("b") },
        .high = { STR_LITERAL("c d"), STR_LITERAL("") } };
    all.tls_only = true;
    return all;
}

/* The outcome of the credential: a reason, or "OK". */
static const char *outcome_from(const struct credential *credential, const struct call_origin *origin)
{
    const struct credential_context context = { &acme, catalogue, origin, now };
    struct access access;
    struct error err = { 0 };

    if (credential_access(credential, &context, &access, &err) == STATUS_OK)
        return "OK";
    return err.reason;
}

static const char *outcome(struct credential credential)
{
    return outcome_from(&credential, &(struct call_origin){ 0 });
}

START_TEST(what_was_signed_is_what_is_read)
{
    struct credential given = everything_set(), back;
    struct str text = credential_sign(&given, &acme.keys[0], &arena);

    ck_assert(str_starts_with(text, STR_LITERAL("tvs1.")));
    ck_assert(credential_parse(text, &arena, &back));
    ck_assert_int_eq(back.kind, given.kind);
    ck_assert(str_equal(back.account, given.account) && str_equal(back.table, given.table));
    ck_assert(back.issued == given.issued && back.start == given.start && back.expiry == given.expiry);
    ck_assert_uint_eq(back.permissions, given.permissions);
    ck_assert(str_equal(back.policy, given.policy));
    ck_assert(back.tls_only);
    ck_assert(back.has_source && memcmp(&back.source, &given.source, sizeof(back.source)) == 0);
    ck_assert(back.range.has_low && back.range.has_high && back.range.high_has_row);
    ck_assert_int_eq(entity_key_compare(&back.range.low, &given.range.low), 0);
    ck_assert_int_eq(entity_key_compare(&back.range.high, &given.range.high), 0);
    ck_assert(credential_is_genuine(&back, &acme));
}
END_TEST

START_TEST(either_key_is_accepted_and_no_other)
{
    for (size_t i = 0; i < 2; i++) {
        struct credential given = i ? a_signature() : a_token(), back;

        for (size_t k = 0; k < ACCOUNT_KEYS; k++) {
            ck_assert(credential_parse(credential_sign(&given, &acme.keys[k], &arena), &arena, &back));
            ck_assert(credential_is_genuine(&back, &acme));
        }
        ck_assert(credential_parse(credential_sign(&given, &other_key, &arena), &arena, &back));
        ck_assert(!credential_is_genuine(&back, &acme));
    }
}
END_TEST

static bool is_accepted(struct str text)
{
    struct credential back;

    return credential_parse(text, &arena, &back) && credential_is_genuine(&back, &acme);
}

START_TEST(no_changed_or_cut_text_is_accepted)
{
    struct credential given = _i ? everything_set() : a_token();
    struct str text = credential_sign(&given, &acme.keys[0], &arena);

    ck_assert(is_accepted(text));
    for (size_t i = 0; i < text.len; i++) {
        struct str changed = arena_copy(&arena, text);

        ((char *)changed.data)[i] = text.data[i] == 'A' ? 'B' : 'A';
        ck_assert_msg(!is_accepted(changed), "byte %zu changed", i);
        ck_assert_msg(!is_accepted(str_of_bytes(text.data, i)), "cut to %zu bytes", i);
    }
    ck_assert(!is_accepted(arena_format(&arena, "%.*sA", STR_ARG(text))));
    ck_assert(!is_accepted(arena_format(&arena, "%.*s=", STR_ARG(text))));
    ck_assert(!is_accepted(arena_format(&arena, " %.*s", STR_ARG(text))));
}
END_TEST

/* The prefix is signed too: the fields of one kind are never read as those of the other. */
START_TEST(a_prefix_cannot_be_exchanged)
{
    struct credential given = a_token();
    struct str text = arena_copy(&arena, credential_sign(&given, &acme.keys[0], &arena));

    for (const char *kind = "skTS"; *kind; kind++) {
        ((char *)text.data)[2] = *kind;
        ck_assert(!is_accepted(text));
    }
    ((char *)text.data)[2] = 't';
    ck_assert(is_accepted(text));
    ((char *)text.data)[3] = '2';
    ck_assert(!is_accepted(text));
}
END_TEST

START_TEST(fields_cannot_slide_into_each_other)
{
    struct credential a = a_signature(), b = a_signature();

    a.range.has_low = b.range.has_low = true;
    a.range.low = (struct entity_key){ STR_LITERAL("ab"), STR_LITERAL("c") };
    b.range.low = (struct entity_key){ STR_LITERAL("a"), STR_LITERAL("bc") };
    ck_assert(
        !str_equal(credential_sign(&a, &acme.keys[0], &arena), credential_sign(&b, &acme.keys[0], &arena)));
}
END_TEST

START_TEST(the_longest_range_fits)
{
    struct credential given = everything_set(), back;
    char *longest = arena_alloc(&arena, LIMIT_KEY_BYTES);
    struct str key = str_of_bytes(longest, LIMIT_KEY_BYTES), text;

    /* Two bytes for each UTF-16 unit. */
    for (size_t i = 0; i < LIMIT_KEY_BYTES; i += 2)
        memcpy(longest + i, "\xc3\xa4", 2);
    given.range.low = given.range.high = (struct entity_key){ key, key };
    text = credential_sign(&given, &acme.keys[0], &arena);
    ck_assert_uint_le(text.len, LIMIT_CREDENTIAL_BYTES);
    ck_assert(credential_parse(text, &arena, &back));
}
END_TEST

/* ---- what may be made ---- */

static void no_account(struct credential *c)
{
    c->account = STR_EMPTY;
}
static void account_in_capitals(struct credential *c)
{
    c->account = STR_LITERAL("ACME");
}
static void table_in_capitals(struct credential *c)
{
    c->table = STR_LITERAL("People");
}
static void no_table(struct credential *c)
{
    c->table = STR_EMPTY;
}
static void no_expiry(struct credential *c)
{
    c->expiry = 0;
}
static void no_permissions(struct credential *c)
{
    c->permissions = 0;
}
static void unknown_permission(struct credential *c)
{
    c->permissions = 1U << PERMISSION_COUNT;
}
static void ends_before_it_starts(struct credential *c)
{
    c->start = c->expiry;
}
static void policy_too_long(struct credential *c)
{
    c->policy = STR_LITERAL("12345678901234567890123456789012345678901234567890123456789012345");
}
static void lone_end_row(struct credential *c)
{
    c->range.high_has_row = true;
}

static void start_with_slash(struct credential *c)
{
    c->range = (struct key_range){ .has_low = true, .low = { STR_LITERAL("a/b"), STR_EMPTY } };
}
static void end_row_with_nul(struct credential *c)
{
    c->range = (struct key_range){
        .has_high = true, .high_has_row = true, .high = { STR_LITERAL("a"), STR_LITERAL("b\0") }
    };
}
static void end_not_utf8(struct credential *c)
{
    c->range = (struct key_range){ .has_high = true, .high = { STR_LITERAL("a\xff"), STR_EMPTY } };
}
static void start_row_too_long(struct credential *c)
{
    char *units = arena_alloc(&arena, LIMIT_KEY_UNITS + 1);

    memset(units, 'x', LIMIT_KEY_UNITS + 1);
    c->range = (struct key_range){ .has_low = true,
        .low = { STR_LITERAL("a"), str_of_bytes(units, LIMIT_KEY_UNITS + 1) } };
}

static const struct check_case {
    const char *name;
    void (*spoil)(struct credential *credential);
} check_cases[] = {
    { "no account", no_account },
    { "an account in capitals", account_in_capitals },
    { "a table in capitals", table_in_capitals },
    { "no table", no_table },
    { "no expiry and no policy", no_expiry },
    { "no permissions and no policy", no_permissions },
    { "an unknown permission", unknown_permission },
    { "an end before its start", ends_before_it_starts },
    { "a policy's id of 65 characters", policy_too_long },
    { "an end row without a partition", lone_end_row },
    { "a start that no partition key can be", start_with_slash },
    { "an end row with a NUL", end_row_with_nul },
    { "an end that is not UTF-8", end_not_utf8 },
    { "a start row longer than a row key can be", start_row_too_long },
};

START_TEST(what_no_server_accepts_is_not_made_and_not_read)
{
    const struct check_case *c = &check_cases[_i];
    struct credential given = a_signature(), back;
    struct error err = { 0 };

    ck_assert_int_eq(credential_check(&given, &err), STATUS_OK);
    c->spoil(&given);
    ck_assert_msg(credential_check(&given, &err) != STATUS_OK, "%s", c->name);
    ck_assert_msg(
        !credential_parse(credential_sign(&given, &acme.keys[0], &arena), &arena, &back), "%s", c->name);
}
END_TEST

START_TEST(a_token_lives_for_a_day_at_most)
{
    struct credential token = a_token();
    struct error err = { 0 };

    token.expiry = token.issued + LIMIT_TOKEN_LIFETIME_S * SECOND;
    ck_assert_int_eq(credential_check(&token, &err), STATUS_OK);
    token.expiry++;
    ck_assert_int_eq(credential_check(&token, &err), STATUS_INVALID);
    token.expiry = token.issued;
    ck_assert_int_eq(credential_check(&token, &err), STATUS_INVALID);
}
END_TEST

/* ---- times ---- */

static const struct time_case {
    const char *name;
    int64_t issued, start, expiry; /* from now */
    const char *want;
} time_cases[] = {
    { "current", -1, 0, 1, "OK" },
    { "expired this moment", -SECOND, 0, 0, "AUTHENTICATION_FAILED" },
    { "expired by one tick: no tolerance", -SECOND, 0, -1, "AUTHENTICATION_FAILED" },
    { "issued by a clock a minute ahead", 60 * SECOND, 0, 90 * SECOND, "OK" },
    { "issued by a clock further ahead", 60 * SECOND + 1, 0, 90 * SECOND, "AUTHENTICATION_FAILED" },
    { "starts within the tolerance", -SECOND, 60 * SECOND, 90 * SECOND, "OK" },
    { "starts later", -SECOND, 60 * SECOND + 1, 90 * SECOND, "AUTHENTICATION_FAILED" },
};

START_TEST(times_are_the_servers)
{
    const struct time_case *c = &time_cases[_i];
    struct credential given = a_signature();

    given.issued = now + c->issued;
    given.start = c->start ? now + c->start : 0;
    given.expiry = now + c->expiry;
    ck_assert_msg(strcmp(outcome(given), c->want) == 0, "%s: %s", c->name, outcome(given));
    if (c->start)
        return;
    given.kind = CREDENTIAL_TOKEN;
    ck_assert_msg(strcmp(outcome(given), c->want) == 0, "token, %s: %s", c->name, outcome(given));
}
END_TEST

/* ---- policies ---- */

static const struct policy_case {
    const char *name, *policy, *table;
    bool own_expiry, own_permissions;
    const char *want;
} policy_cases[] = {
    { "the policy sets all", "whole", "people", false, false, "OK" },
    { "both set the expiry", "whole", "people", true, false, "AUTHENTICATION_FAILED" },
    { "both set the permissions", "whole", "people", false, true, "AUTHENTICATION_FAILED" },
    { "the policy sets nothing, the signature all", "bare", "people", true, true, "OK" },
    { "neither token nor policy sets the expiry", "bare", "people", false, true, "AUTHENTICATION_FAILED" },
    { "neither token nor policy sets the permissions", "bare", "people", true, false,
        "AUTHENTICATION_FAILED" },
    { "the policy has expired", "over", "people", false, false, "AUTHENTICATION_FAILED" },
    { "the policy is not there", "gone", "people", true, true, "AUTHENTICATION_FAILED" },
    { "ids are compared exactly", "Whole", "people", false, false, "AUTHENTICATION_FAILED" },
    { "the table is not there", "whole", "things", false, false, "AUTHENTICATION_FAILED" },
};

START_TEST(a_policy_and_its_signature_complete_each_other)
{
    const struct policy_case *c = &policy_cases[_i];
    struct credential given = a_signature();

    given.policy = str_of(c->policy);
    given.table = str_of(c->table);
    if (!c->own_expiry)
        given.expiry = 0;
    if (!c->own_permissions)
        given.permissions = 0;
    ck_assert_msg(strcmp(outcome(given), c->want) == 0, "%s: %s", c->name, outcome(given));
}
END_TEST

/* ---- addresses ---- */

static const struct peer_case {
    const char *source, *peer;
    const char *want;
} peer_cases[] = {
    { "10.0.0.1-10.0.0.9", "ipv4:10.0.0.1:99", "OK" },
    { "10.0.0.1-10.0.0.9", "ipv4:10.0.0.9:99", "OK" },
    { "10.0.0.1-10.0.0.9", "ipv4:10.0.0.10:99", "AUTHORIZATION_SOURCE_IP_MISMATCH" },
    { "10.0.0.1", "ipv4:10.0.0.2:99", "AUTHORIZATION_SOURCE_IP_MISMATCH" },
    { "10.0.0.1", "ipv6:[::ffff:10.0.0.1]:99", "OK" },
    { "10.0.0.1", "ipv6:%5B::ffff:10.0.0.1%5D:99", "OK" },
    { "2001:db8::1", "ipv6:[2001:db8::1]:99", "OK" },
    { "fe80::1", "ipv6:%5Bfe80::1%25eth0%5D:99", "OK" },
    { "2001:db8::1", "ipv6:[2001:db8::2]:99", "AUTHORIZATION_SOURCE_IP_MISMATCH" },
    { "10.0.0.1", "unix:/tmp/socket", "AUTHORIZATION_SOURCE_IP_MISMATCH" },
    { "10.0.0.1", "", "AUTHORIZATION_SOURCE_IP_MISMATCH" },
    { "10.0.0.1", "ipv4:10.0.0.1", "AUTHORIZATION_SOURCE_IP_MISMATCH" },
    { "10.0.0.1", "ipv6:[]:1", "AUTHORIZATION_SOURCE_IP_MISMATCH" },
};

START_TEST(addresses_are_compared_as_numbers)
{
    const struct peer_case *c = &peer_cases[_i];
    struct credential given = a_signature();
    struct call_origin origin = { 0 };
    const char *got;

    given.has_source = true;
    ck_assert(network_range_parse(str_of(c->source), &given.source));
    origin.has_address = network_address_of_peer(str_of(c->peer), &origin.address);
    got = outcome_from(&given, &origin);
    ck_assert_msg(strcmp(got, c->want) == 0, "%s from %s: %s", c->source, c->peer, got);
}
END_TEST

START_TEST(what_is_for_tls_only_opens_nothing_in_plain_text)
{
    static const struct call_origin plain, encrypted = { .is_encrypted = true };
    struct credential given = a_signature();

    ck_assert_str_eq(outcome_from(&given, &encrypted), "OK");
    given.tls_only = true;
    ck_assert_str_eq(outcome_from(&given, &encrypted), "OK");
    ck_assert_str_eq(outcome_from(&given, &plain), "AUTHORIZATION_PROTOCOL_MISMATCH");
}
END_TEST

START_TEST(a_range_has_a_lower_and_a_higher_end)
{
    static const char *const bad[] = { "", "-", "10.0.0.9-10.0.0.1", "10.0.0.1-", "-10.0.0.1", "10.0.0",
        "10.0.0.1-::1", "10.0.0.1/8", "localhost", "10.0.0.1-10.0.0.2-10.0.0.3" };
    struct network_range range;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_msg(!network_range_parse(str_of(bad[i]), &range), "%s", bad[i]);
}
END_TEST

/* ---- keys ---- */

START_TEST(a_key_is_text_that_comes_back)
{
    struct str text = account_key_format(&acme.keys[0], &arena);
    struct account_key back;

    ck_assert(account_key_parse(text, &arena, &back));
    ck_assert_mem_eq(back.bytes, acme.keys[0].bytes, ACCOUNT_KEY_BYTES);
    ck_assert(!account_key_parse(str_of_bytes(text.data, text.len - 1), &arena, &back));
    ck_assert(!account_key_parse(str_from(text, 1), &arena, &back));
}
END_TEST

Suite *test_credential_suite(void)
{
    Suite *suite = suite_create("credential");
    TCase *tc = tcase_create("credential");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, what_was_signed_is_what_is_read);
    tcase_add_test(tc, either_key_is_accepted_and_no_other);
    tcase_add_loop_test(tc, no_changed_or_cut_text_is_accepted, 0, 2);
    tcase_add_test(tc, a_prefix_cannot_be_exchanged);
    tcase_add_test(tc, fields_cannot_slide_into_each_other);
    tcase_add_test(tc, the_longest_range_fits);
    tcase_add_loop_test(tc, what_no_server_accepts_is_not_made_and_not_read, 0, ARRAY_LEN(check_cases));
    tcase_add_test(tc, a_token_lives_for_a_day_at_most);
    tcase_add_loop_test(tc, times_are_the_servers, 0, ARRAY_LEN(time_cases));
    tcase_add_loop_test(tc, a_policy_and_its_signature_complete_each_other, 0, ARRAY_LEN(policy_cases));
    tcase_add_loop_test(tc, addresses_are_compared_as_numbers, 0, ARRAY_LEN(peer_cases));
    tcase_add_test(tc, what_is_for_tls_only_opens_nothing_in_plain_text);
    tcase_add_test(tc, a_range_has_a_lower_and_a_higher_end);
    tcase_add_test(tc, a_key_is_text_that_comes_back);
    suite_add_tcase(suite, tc);
    return suite;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_request_credential.c - credentials of REST requests. The signatures were made by @azure/data-tables 13.3.2, and
 * by Python's hmac over the texts that the documentation gives, with the key 00 01 .. 1f of the account acme.
 */
#include "odata/access/request_credential.h"

#include <check.h>

#include "domain/catalogue/catalogue.h"
#include "domain/limits.h"
#include "domain/ticks.h"
#include "odata/access/http_date.h"
#include "odata/access/shared_key.h"
#include "tests/support/catalogues.h"

#define DATE "Sun, 22 Nov 2026 12:00:00 GMT"
#define MULTIPART "multipart/mixed; boundary=batch_x"
#define KEYS "(PartitionKey='a%20b',RowKey='%2F')"

static struct account acme = { .name = { "acme", 4 }, .id = { "acme#1", 6 }, .keys = { { { 99 } } } };
static struct access_policy policies[] = {
    { .id = { "readers", 7 }, .expiry = INT64_C(200000000000000000), .permissions = PERMISSION_READ },
};
static struct table people = { .table_id = 7,
    .account = { "acme#1", 6 },
    .name = { "People", 6 },
    .folded = { "people", 6 },
    .signatures_from = INT64_C(190000000000000000),
    .policies = { policies, 1 } };
static struct table *const tables[] = { &people };
static struct catalogue *catalogue;
static struct arena arena;
static int64_t now; /* 2026-11-22T12:00:00Z */

static void setup(void)
{
    arena_init(&arena);
    catalogue = a_catalogue_of(tables, 1);
    for (uint8_t i = 0; i < ACCOUNT_KEY_BYTES; i++)
        acme.keys[1].bytes[i] = i;
    ck_assert(http_date_parse(str_of(DATE), &now));
}

static void teardown(void)
{
    catalogue_release(catalogue);
    arena_cleanup(&arena);
}

static struct signed_request a_request(const char *method, const char *path, const char *query)
{
    return (struct signed_request){ .method = str_of(method),
        .path = str_of(path),
        .query = str_of(query),
        .account = STR_LITERAL("acme"),
        .ms_date = STR_LITERAL(DATE) };
}

static struct signed_request with_header(struct signed_request request, const char *authorization)
{
    request.authorization = str_of(authorization);
    return request;
}

/* What comes of a request: the reason of its refusal, "OK", or "nothing", "bearer". */
static const char *outcome_at(
    const struct signed_request *request, const struct call_origin *origin, int64_t at, struct access *access)
{
    const struct credential_context context = { &acme, catalogue, origin, at };
    struct request_credential read;
    struct error err = { 0 };

    if (request_credential_read(request, &arena, &read, &err) != STATUS_OK)
        return err.reason;
    if (read.form != PRESENTED_CREDENTIAL)
        return read.form == PRESENTED_NOTHING ? "nothing" : "bearer";
    if (!credential_is_genuine(&read.credential, &acme))
        return "forged";
    return credential_access(&read.credential, &context, access, &err) == STATUS_OK ? "OK" : err.reason;
}

static const char *outcome_of(struct signed_request request)
{
    struct access access;

    return outcome_at(&request, &(struct call_origin){ .is_encrypted = true }, now, &access);
}

static const struct {
    const char *method, *path, *query, *type, *md5, *authorization;
} signed_requests[] = {
    { "GET", "/acme/Tables", "", "", "", "SharedKeyLite acme:rotF7ytml41n9/7Vi9u/TxxV7ikYUSLgQAhj31Oe6i8=" },
    { "POST", "/acme/$batch", "", MULTIPART, "",
        "SharedKeyLite acme:dwM+9BDG3ogjF0L7fagX+D2g75FGUe8rsaS5av3b03U=" },
    { "GET", "/people" KEYS, "$select=A", "", "",
        "SharedKeyLite acme:MWxhfaTkWdrE0DsW8EDEfYBVx9kjz0PQximf5dmGDUc=" },
    { "PUT", "/acme/people", "comp=acl&timeout=30", "application/xml", "",
        "SharedKeyLite acme:l0Z8cTEhrPRIkWwOYxjnORsyLOi1Oc4Yqh8JCXxelQ4=" },
    { "GET", "/acme/Tables", "", "", "", "SharedKey acme:2anfRblsgOFnJnldJE6X+ECpopufjV5/xKMCxiCVuks=" },
    { "POST", "/acme/people" KEYS, "", "application/json",
        "Q2hlY2s=", "SharedKey acme:JINcU2Ib7uRNLGVMxRTTrxK+0ceEtzZWFR7HVpz+YTE=" },
    { "PUT", "/people", "comp=acl", "application/xml", "",
        "sharedkey  acme:UOUJFpMf/+7sOm5s48hHlxWQBePpCNnI850yjlWuB2Q=" },
    { "GET", "/acme-secondary/", "restype=service&comp=stats", "", "",
        "SharedKey acme:kj1wJQDoKn0gd0vB3Ve6s9iPPrFXInUO1QQc8qd7cM0=" },
    { "GET", "/acme-secondary/", "restype=service&comp=stats", "", "",
        "SharedKey acme:0mLiASAg2GBdVMX+y1lxGdS0nQaFW/5kJx7Ac49KOqg=" },
};

static struct signed_request signed_request(int row)
{
    struct signed_request request =
        a_request(signed_requests[row].method, signed_requests[row].path, signed_requests[row].query);

    request.content_type = str_of(signed_requests[row].type);
    request.content_md5 = str_of(signed_requests[row].md5);
    request.is_secondary = strstr(signed_requests[row].path, "-secondary") != NULL;
    return with_header(request, signed_requests[row].authorization);
}

START_TEST(requests_signed_by_others_are_genuine)
{
    struct signed_request request = signed_request(_i);
    struct access access;

    ck_assert_str_eq(outcome_at(&request, &(struct call_origin){ 0 }, now, &access), "OK");
    ck_assert(access.whole_account && !access.administrator);
    ck_assert(str_equal(access.account, acme.id));
}
END_TEST

/* A change of a signed part is refused; a change of an unsigned part is not. */
START_TEST(a_changed_part_is_noticed)
{
    struct signed_request request = signed_request(5);

    request.ms_date = STR_LITERAL("Sun, 22 Nov 2026 12:00:01 GMT");
    ck_assert_str_eq(outcome_of(request), "forged");
    request = signed_request(5);
    request.method = STR_LITERAL("PUT");
    ck_assert_str_eq(outcome_of(request), "forged");
    request = signed_request(5);
    request.content_md5 = STR_EMPTY;
    ck_assert_str_eq(outcome_of(request), "forged");
    request = signed_request(5);
    request.content_type = STR_LITERAL("application/xml");
    ck_assert_str_eq(outcome_of(request), "forged");
    request = signed_request(5);
    request.path = STR_LITERAL("/acme/people(PartitionKey='a b',RowKey='%2F')");
    ck_assert_str_eq(outcome_of(request), "forged");
    request = signed_request(5);
    request.query = STR_LITERAL("comp=acl");
    ck_assert_str_eq(outcome_of(request), "forged");
    request = signed_request(5);
    request.query = STR_LITERAL("timeout=3&%24select=A");
    ck_assert_str_eq(outcome_of(request), "OK");
}
END_TEST

START_TEST(the_date_may_differ_by_a_quarter_of_an_hour)
{
    const int64_t window = LIMIT_SIGNED_DATE_S * TICKS_PER_SECOND;
    struct signed_request request = signed_request(0);
    struct access access;

    ck_assert_str_eq(outcome_at(&request, &(struct call_origin){ 0 }, now + window, &access), "OK");
    ck_assert_str_eq(outcome_at(&request, &(struct call_origin){ 0 }, now - window, &access), "OK");
    ck_assert_str_eq(
        outcome_at(&request, &(struct call_origin){ 0 }, now + window + 1, &access), "AUTHENTICATION_FAILED");
    ck_assert_str_eq(
        outcome_at(&request, &(struct call_origin){ 0 }, now - window - 1, &access), "AUTHENTICATION_FAILED");
}
END_TEST

START_TEST(date_is_read_where_there_is_no_ms_date)
{
    struct signed_request request = signed_request(0);

    request.date = request.ms_date;
    request.ms_date = STR_EMPTY;
    ck_assert_str_eq(outcome_of(request), "OK");
    request.date = STR_EMPTY;
    ck_assert_str_eq(outcome_of(request), "AUTHENTICATION_FAILED");
}
END_TEST

static const char *const bad_headers[] = {
    "SharedKey",
    "SharedKey ",
    "SharedKey acme",
    "SharedKey acme:",
    "SharedKey acme:AAAA",
    "SharedKey other:2anfRblsgOFnJnldJE6X+ECpopufjV5/xKMCxiCVuks=",
    "SharedKey acme:2anfRblsgOFnJnldJE6X+ECpopufjV5/xKMCxiCVuks=!",
    "SharedKeyLit acme:2anfRblsgOFnJnldJE6X+ECpopufjV5/xKMCxiCVuks=",
    "SharedKey\tacme:2anfRblsgOFnJnldJE6X+ECpopufjV5/xKMCxiCVuks=",
    "Basic YTpi",
    "Bearer ",
};

START_TEST(other_headers_are_refused)
{
    ck_assert_str_eq(outcome_of(with_header(a_request("GET", "/acme/Tables", ""), bad_headers[_i])),
        "AUTHENTICATION_FAILED");
}
END_TEST

START_TEST(a_request_without_credentials_has_none)
{
    ck_assert_str_eq(outcome_of(a_request("GET", "/acme/Tables", "sv=2019-02-02&comp=list")), "nothing");
}
END_TEST

START_TEST(two_credentials_are_none)
{
    struct signed_request request = signed_request(0);

    request.query = STR_LITERAL("sig=a");
    ck_assert_str_eq(outcome_of(request), "AUTHENTICATION_FAILED");
}
END_TEST

START_TEST(tokens_of_ours_are_bearer_tokens)
{
    const struct credential credential = {
        .kind = CREDENTIAL_TOKEN, .account = acme.name, .issued = now - 1, .expiry = now + TICKS_PER_SECOND
    };
    struct str text = credential_sign(&credential, &acme.keys[1], &arena);
    struct signed_request request = with_header(
        a_request("GET", "/acme/Tables", ""), arena_format(&arena, "Bearer %.*s", STR_ARG(text)).data);

    ck_assert_str_eq(outcome_of(request), "OK");
    request.account = STR_LITERAL("other");
    ck_assert_str_eq(outcome_of(request), "AUTHENTICATION_FAILED");
    ck_assert_str_eq(outcome_of(with_header(request, "bearer a.b.c")), "bearer");
}
END_TEST

/* ---- shared access signatures ---- */

#define WIDE                                                                                                 \
    "sv=2019-02-02&spr=https&st=2026-11-22T11%3A00%3A00Z&se=2026-11-22T13%3A00%3A00Z&sip=10.0.0.1-10.0.0.9"  \
    "&sp=ra&sig=EHTPB%2B0A%2BFRxKLHWP77nD4HqJmZMm2Pvsj4sIHa5zQA%3D&tn=People&srk=1%2B'x&spk=a%20b&epk=c"     \
    "&erk=%C3%A9"
#define OF_POLICY "sv=2019-02-02&si=readers&sig=meM2J2fIjgX2K6sLNRVkMfCwdZimtY70o01Bo1SsVO0%3D&tn=people"
#define OF_ACCOUNT                                                                                           \
    "sv=2019-02-02&ss=t&srt=sco&se=2026-11-22T13%3A00%3A00Z&sp=rwdlau"                                       \
    "&sig=KFrz66Be%2BCrtaj3FqxHVdv2vRjuuMb0sU5Rg6swFyF4%3D"

static const struct call_origin inside = { .is_encrypted = true,
    .has_address = true,
    .address = { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 5 } } };

START_TEST(all_fields_of_a_signature_are_read)
{
    struct signed_request request = a_request("GET", "/acme/People()", WIDE);
    struct access access;

    ck_assert_str_eq(outcome_at(&request, &inside, now, &access), "OK");
    ck_assert(!access.whole_account && !access.administrator && access.resources == 0);
    ck_assert(str_equal(access.table, STR_LITERAL("people")));
    ck_assert_uint_eq(access.permissions, PERMISSION_READ | PERMISSION_ADD);
    ck_assert(access.range.has_low && access.range.has_high && access.range.high_has_row);
    ck_assert(str_equal(access.range.low.partition, STR_LITERAL("a b")));
    ck_assert(str_equal(access.range.low.row, STR_LITERAL("1+'x")));
    ck_assert(str_equal(access.range.high.partition, STR_LITERAL("c")));
    ck_assert(str_equal(access.range.high.row, STR_LITERAL("\xC3\xA9")));
    ck_assert_int_eq(access.signed_at, 0);
}
END_TEST

START_TEST(time_address_and_protocol_limit_a_signature)
{
    struct signed_request request = a_request("GET", "/acme/People()", WIDE);
    struct call_origin origin = inside;
    struct access access;
    const int64_t hour = 3600 * TICKS_PER_SECOND;

    ck_assert_str_eq(outcome_at(&request, &inside, now + hour, &access), "AUTHENTICATION_FAILED");
    ck_assert_str_eq(outcome_at(&request, &inside, now - 2 * hour, &access), "AUTHENTICATION_FAILED");
    origin.is_encrypted = false;
    ck_assert_str_eq(outcome_at(&request, &origin, now, &access), "AUTHORIZATION_PROTOCOL_MISMATCH");
    origin = inside;
    origin.address.bytes[15] = 10;
    ck_assert_str_eq(outcome_at(&request, &origin, now, &access), "AUTHORIZATION_SOURCE_IP_MISMATCH");
}
END_TEST

START_TEST(a_signature_with_a_policy_has_its_terms)
{
    struct signed_request request = a_request("GET", "/acme/people()", OF_POLICY);
    struct access access;

    ck_assert_str_eq(outcome_at(&request, &(struct call_origin){ 0 }, now, &access), "OK");
    ck_assert_uint_eq(access.permissions, PERMISSION_READ);
    policies[0].id = STR_LITERAL("others");
    ck_assert_str_eq(outcome_of(request), "AUTHENTICATION_FAILED");
    policies[0].id = STR_LITERAL("readers");
}
END_TEST

START_TEST(a_signature_of_an_account_is_for_all_tables)
{
    struct signed_request request = a_request("GET", "/acme/people()", OF_ACCOUNT);
    struct access access;

    ck_assert_str_eq(outcome_at(&request, &(struct call_origin){ 0 }, now, &access), "OK");
    ck_assert(!access.whole_account && access.table.len == 0);
    ck_assert_uint_eq(access.resources, RESOURCE_SERVICE | RESOURCE_CONTAINER | RESOURCE_OBJECT);
    ck_assert_uint_eq(access.permissions, PERMISSION_READ | PERMISSION_SET | PERMISSION_DELETE |
                                              PERMISSION_LIST | PERMISSION_ADD | PERMISSION_UPDATE);
}
END_TEST

#define END_TIME "&se=2026-11-22T13:00:00Z"

/* Queries and what comes of them. */
static const struct {
    const char *query, *outcome;
} signatures[] = {
    /* Earlier versions put the text together in other ways. */
    { "sv=2013-08-15&tn=people&sp=r" END_TIME "&sig=Bl5A+ldHLfBmT/66Orp9JtIf8A6RVVZjrEt9XCIcGtk=", "OK" },
    { "sv=2015-02-21&tn=people&sp=r" END_TIME "&sig=4UqhvLI4ABZbpNLMpCwA5f47ZD6gdr3Jl4L5oAepgJA=", "OK" },
    { "sv=2015-02-21&tn=people&sp=r" END_TIME "&sip=&sig=4UqhvLI4ABZbpNLMpCwA5f47ZD6gdr3Jl4L5oAepgJA=",
        "AUTHENTICATION_FAILED" },
    { "sv=2020-12-06&ss=t&srt=co&sp=rl" END_TIME "&sig=lRfBqsJgSCsGfdOhiuZiwcJClTOHX8UuEK6uYYFxfIE=", "OK" },
    { "sv=2019-02-02&ss=b&srt=co&sp=rl" END_TIME "&sig=woT2pdSKMBN/Baykrn0YGAIB1FJHjnpLBgtMXjt1V5c=",
        "AUTHORIZATION_SERVICE_MISMATCH" },
    /* An empty parameter is one that is missing; a signed one may not be left out. */
    { OF_POLICY "&spk=&epk=&sp=&se=", "OK" },
    { OF_POLICY "&sp=r", "forged" },
    { OF_POLICY "&spk=a", "forged" },
    { OF_POLICY "&spk=a%0Ab", "AUTHENTICATION_FAILED" },
    { OF_POLICY "&spk=%FF", "AUTHENTICATION_FAILED" },
    { OF_POLICY "&tn=people", "AUTHENTICATION_FAILED" },
    { OF_POLICY "&sig=", "AUTHENTICATION_FAILED" },
    { OF_POLICY "&srk=a", "AUTHENTICATION_FAILED" },
    { OF_POLICY "&erk=a", "AUTHENTICATION_FAILED" },
    { OF_POLICY "&spk=a%2Fb", "AUTHENTICATION_FAILED" },
    { OF_POLICY "&sip=10.0.0.9-10.0.0.1", "AUTHENTICATION_FAILED" },
    { OF_POLICY "&spr=http", "AUTHENTICATION_FAILED" },
    { OF_POLICY "&st=2026-11-22T11:00:00", "AUTHENTICATION_FAILED" },
    { OF_POLICY "&st=yesterday", "AUTHENTICATION_FAILED" },
    { OF_POLICY "&sp=ar", "AUTHENTICATION_FAILED" },
    { OF_POLICY "&sp=rr", "AUTHENTICATION_FAILED" },
    { OF_POLICY "&sp=x", "AUTHENTICATION_FAILED" },
    { "sv=2019-02-02&sig=meM2J2fIjgX2K6sLNRVkMfCwdZimtY70o01Bo1SsVO0%3D&tn=people", "AUTHENTICATION_FAILED" },
    { "sv=2019-02-0&si=readers&sig=meM2J2fIjgX2K6sLNRVkMfCwdZimtY70o01Bo1SsVO0%3D&tn=people",
        "AUTHENTICATION_FAILED" },
    { "sv=2011-08-18&si=readers&sig=meM2J2fIjgX2K6sLNRVkMfCwdZimtY70o01Bo1SsVO0%3D&tn=people",
        "AUTHENTICATION_FAILED" },
    { "si=readers&sig=meM2J2fIjgX2K6sLNRVkMfCwdZimtY70o01Bo1SsVO0%3D&tn=people", "AUTHENTICATION_FAILED" },
    { "sv=2019-02-02&si=readers&sig=meM2&tn=people", "AUTHENTICATION_FAILED" },
    { "sv=2019-02-02&si=readers&sig=meM2J2fIjgX2K6sLNRVkMfCwdZimtY70o01Bo1SsVO0%3D&tn=pe",
        "AUTHENTICATION_FAILED" },
    { "sv=2019-02-02&si=readers&sig=meM2J2fIjgX2K6sLNRVkMfCwdZimtY70o01Bo1SsVO0%3D&tn=others", "forged" },
    { OF_ACCOUNT "&si=readers", "OK" }, /* no parameter of such a signature */
    { "sv=2019-02-02&ss=tx&srt=sco&sp=r" END_TIME "&sig=KFrz66Be%2BCrtaj3FqxHVdv2vRjuuMb0sU5Rg6swFyF4%3D",
        "AUTHENTICATION_FAILED" },
    { "sv=2019-02-02&ss=t&srt=&sp=r" END_TIME "&sig=KFrz66Be%2BCrtaj3FqxHVdv2vRjuuMb0sU5Rg6swFyF4%3D",
        "AUTHENTICATION_FAILED" },
    { "sv=2019-02-02&ss=t&srt=ss&sp=r" END_TIME "&sig=KFrz66Be%2BCrtaj3FqxHVdv2vRjuuMb0sU5Rg6swFyF4%3D",
        "AUTHENTICATION_FAILED" },
    { "sv=2019-02-02&ss=t&srt=s&sp=z" END_TIME "&sig=KFrz66Be%2BCrtaj3FqxHVdv2vRjuuMb0sU5Rg6swFyF4%3D",
        "AUTHENTICATION_FAILED" },
    { "sv=2019-02-02&ss=t&srt=s&sp=r&sig=KFrz66Be%2BCrtaj3FqxHVdv2vRjuuMb0sU5Rg6swFyF4%3D",
        "AUTHENTICATION_FAILED" },
};

START_TEST(signatures_are_read_by_their_version)
{
    ck_assert_str_eq(
        outcome_of(a_request("GET", "/acme/people()", signatures[_i].query)), signatures[_i].outcome);
}
END_TEST

/* ---- dates ---- */

static const struct {
    const char *text;
    int64_t ticks; /* 0: refused */
} dates[] = {
    { "Fri, 26 Jun 2015 23:39:12 GMT", INT64_C(130798355520000000) },
    { "Mon, 01 Jan 1601 00:00:01 GMT", TICKS_PER_SECOND },
    { "Fri, 26 Jun 2015 23:39:12 UTC", 0 },
    { "Fri, 26 jun 2015 23:39:12 GMT", 0 },
    { "Fri, 31 Jun 2015 23:39:12 GMT", 0 },
    { "Fri, 26 Jun 2015 24:39:12 GMT", 0 },
    { "Fri, 26 Jun 15 23:39:12 GMT", 0 },
    { "Fri  26 Jun 2015 23:39:12 GMT", 0 },
    { "2015-06-26T23:39:12Z", 0 },
    { "", 0 },
};

START_TEST(dates_have_one_form)
{
    int64_t ticks = 0;

    ck_assert_int_eq(http_date_parse(str_of(dates[_i].text), &ticks), dates[_i].ticks != 0);
    if (dates[_i].ticks == 0)
        return;
    ck_assert_int_eq(ticks, dates[_i].ticks);
    ck_assert(str_equal(http_date_format(ticks, &arena), str_of(dates[_i].text)));
}
END_TEST

Suite *test_request_credential_suite(void)
{
    Suite *suite = suite_create("request_credential");
    TCase *tcase = tcase_create("request_credential");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, requests_signed_by_others_are_genuine, 0, ARRAY_LEN(signed_requests));
    tcase_add_test(tcase, a_changed_part_is_noticed);
    tcase_add_test(tcase, the_date_may_differ_by_a_quarter_of_an_hour);
    tcase_add_test(tcase, date_is_read_where_there_is_no_ms_date);
    tcase_add_loop_test(tcase, other_headers_are_refused, 0, ARRAY_LEN(bad_headers));
    tcase_add_test(tcase, a_request_without_credentials_has_none);
    tcase_add_test(tcase, two_credentials_are_none);
    tcase_add_test(tcase, tokens_of_ours_are_bearer_tokens);
    tcase_add_test(tcase, all_fields_of_a_signature_are_read);
    tcase_add_test(tcase, time_address_and_protocol_limit_a_signature);
    tcase_add_test(tcase, a_signature_with_a_policy_has_its_terms);
    tcase_add_test(tcase, a_signature_of_an_account_is_for_all_tables);
    tcase_add_loop_test(tcase, signatures_are_read_by_their_version, 0, ARRAY_LEN(signatures));
    tcase_add_loop_test(tcase, dates_have_one_form, 0, ARRAY_LEN(dates));
    suite_add_tcase(suite, tcase);
    return suite;
}

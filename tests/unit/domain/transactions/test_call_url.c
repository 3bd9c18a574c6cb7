/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/transactions/call_url.c.
 */
#include "domain/transactions/call_url.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"

static const struct url_case {
    const char *url, *host;
    int port; /* 0: the URL is not valid */
} url_cases[] = {
    { "http://a", "a", 80 },
    { "https://Hooks.example.com/a/b?c=%20&d", "Hooks.example.com", 443 },
    { "https://a-b_c:8443?x", "a-b_c", 8443 },
    { "http://[::1]:80/", "[::1]", 80 },
    { "http://a:00080", "a", 80 },
    { "", "", 0 },
    { "a", "", 0 },
    { "HTTP://a", "", 0 },
    { "ftp://a", "", 0 },
    { "file:///etc/passwd", "", 0 },
    { "http://", "", 0 },
    { "http:///a", "", 0 },
    { "http://:80", "", 0 },
    { "http://a:", "", 0 },
    { "http://a:0", "", 0 },
    { "http://a:65536", "", 0 },
    { "http://a:8a", "", 0 },
    { "http://user@a", "", 0 },
    { "http://a:80@b", "", 0 },
    { "http://a\\@b", "", 0 },
    { "http://a#@b", "", 0 },
    { "http://a/#b", "", 0 },
    { "http://a%2eb", "", 0 },
    { "http://a b", "", 0 },
    { "http://a/b c", "", 0 },
    { "http://a/\r\nX: y", "", 0 },
    { "http://\xc3\xa4", "", 0 },
    { "http://[::1", "", 0 },
    { "http://[]", "", 0 },
    { "http://[a]b", "", 0 },
    { "http://a;b", "", 0 },
};

START_TEST(a_url_has_one_reading_or_none)
{
    const struct url_case *c = &url_cases[_i];
    struct call_address address = { .host = STR_EMPTY };

    ck_assert_msg(call_url_read(str_of(c->url), &address) == (c->port > 0), "%s", c->url);
    if (c->port == 0)
        return;
    ck_assert(str_equal(address.host, str_of(c->host)));
    ck_assert_int_eq(address.port, c->port);
}
END_TEST

START_TEST(a_url_has_a_bound)
{
    char url[2050];
    struct call_address address;

    memset(url, 'x', sizeof(url));
    memcpy(url, "http://a/", 9);
    ck_assert(call_url_read(str_of_bytes(url, 2048), &address));
    ck_assert(!call_url_read(str_of_bytes(url, 2049), &address));
    ck_assert(!call_url_read(str_of_bytes("http://a/\0b", 11), &address));
    memset(url + 7, 'x', 254);
    ck_assert(call_url_read(str_of_bytes(url, 7 + 253), &address));
    ck_assert(!call_url_read(str_of_bytes(url, 7 + 254), &address));
}
END_TEST

START_TEST(a_list_names_hosts_with_their_ports)
{
    static const char *const good[] = { "a", "a:80", "a,b:8080,[::1]:9", "10.0.0.7" };
    static const char *const bad[] = { "", ",", "a,", ",a", "a, b", "http://a", "a/b", "*", "*.example.com",
        "a:", "a:0", "a:70000", "a;b", "u@a" };

    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        ck_assert_msg(call_url_hosts_are_valid(good[i]), "%s", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_msg(!call_url_hosts_are_valid(bad[i]), "%s", bad[i]);
}
END_TEST

static const struct allow_case {
    const char *hosts, *url;
    bool is_allowed;
} allow_cases[] = {
    { "a.example", "https://a.example/x", true },
    { "a.example", "https://A.Example", true },
    { "a.example", "https://a.example:443", true },
    { "a.example", "http://a.example", false },
    { "a.example", "https://a.example:8443", false },
    { "a.example", "https://b.a.example", false },
    { "a.example", "https://a.example.evil", false },
    { "a.example", "https://a.example.", false },
    { "a.example", "https://a.exampl", false },
    { "x,a:80,y", "http://a", true },
    { "x,a:80,y", "https://a", false },
    { "x,a:80,y", "https://y", true },
    { "[::1]:80", "http://[::1]/", true },
    { "[::1]:80", "http://[::01]/", false },
    { NULL, "https://a", false },
};

START_TEST(only_hosts_of_the_list_are_allowed)
{
    const struct allow_case *c = &allow_cases[_i];
    struct call_address address;

    ck_assert(call_url_read(str_of(c->url), &address));
    ck_assert_msg(call_url_is_of_hosts(c->hosts, &address) == c->is_allowed, "%s in %s", c->url,
        c->hosts ? c->hosts : "nothing");
}
END_TEST

Suite *test_call_url_suite(void)
{
    Suite *suite = suite_create("call_url");
    TCase *tc = tcase_create("call_url");

    tcase_add_loop_test(tc, a_url_has_one_reading_or_none, 0, ARRAY_LEN(url_cases));
    tcase_add_test(tc, a_url_has_a_bound);
    tcase_add_test(tc, a_list_names_hosts_with_their_ports);
    tcase_add_loop_test(tc, only_hosts_of_the_list_are_allowed, 0, ARRAY_LEN(allow_cases));
    suite_add_tcase(suite, tc);
    return suite;
}

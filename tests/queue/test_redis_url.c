/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of queue/redis_url.c.
 */
#include "queue/redis_url.h"

#include <check.h>

static const struct good_case {
    const char *text;
    struct redis_url want;
} good_cases[] = {
    { "unix:/run/redis/s", { .path = "/run/redis/s" } },
    { "redis://localhost:6379", { .endpoints = { { "localhost", 6379 } } } },
    { "redis://localhost:6379/", { .endpoints = { { "localhost", 6379 } } } },
    { "redis://10.0.0.1:7000/3", { .endpoints = { { "10.0.0.1", 7000 } }, .database = 3 } },
    { "redis://[::1]:6379", { .endpoints = { { "::1", 6379 } } } },
    { "redis://:secret@host:1", { .endpoints = { { "host", 1 } }, .password = "secret" } },
    { "redis://me:p%40s%2fs:x@host:1/2",
        { .endpoints = { { "host", 1 } }, .database = 2, .user = "me", .password = "p@s/s:x" } },
    { "rediss://:x@host:1/2",
        { .tls = true, .endpoints = { { "host", 1 } }, .database = 2, .password = "x" } },
    { "sentinel://a:1/main", { .endpoints = { { "a", 1 } }, .master = "main" } },
    { "sentinel://me:x@a:1,[::1]:2,c:3/main/4", { .endpoints = { { "a", 1 }, { "::1", 2 }, { "c", 3 } },
                                                    .master = "main",
                                                    .database = 4,
                                                    .user = "me",
                                                    .password = "x" } },
    { "sentinels://a:1,b:2/main/",
        { .tls = true, .endpoints = { { "a", 1 }, { "b", 2 } }, .master = "main" } },
};

static void same_text(const char *text, const char *got, const char *want)
{
    ck_assert_msg(str_equal(str_of(got), str_of(want)), "%s: got %s, want %s", text, got ? got : "nothing",
        want ? want : "nothing");
}

START_TEST(an_address_is_read)
{
    const struct good_case *c = &good_cases[_i];
    struct arena arena;
    struct redis_url got;
    struct error err = { 0 };

    arena_init(&arena);
    ck_assert_msg(redis_url_parse(c->text, &arena, &got, &err) == STATUS_OK, "%s: %s", c->text, err.message);

    same_text(c->text, got.path, c->want.path);
    ck_assert_int_eq(got.tls, c->want.tls);
    for (size_t i = 0; i < REDIS_MAX_ENDPOINTS; i++) {
        same_text(c->text, got.endpoints[i].host, c->want.endpoints[i].host);
        ck_assert_int_eq(got.endpoints[i].port, c->want.endpoints[i].port);
        ck_assert_int_eq(i < got.endpoint_count, c->want.endpoints[i].host != NULL);
    }
    same_text(c->text, got.master, c->want.master);
    same_text(c->text, got.user, c->want.user);
    same_text(c->text, got.password, c->want.password);
    ck_assert_int_eq(got.database, c->want.database);
    arena_cleanup(&arena);
}
END_TEST

static const char *const bad_cases[] = { "", "localhost:6379", "redisss://host:1", "unix:relative",
    "redis://", "redis://[]:6379", "redis://host", "redis://:6379", "redis://host:", "redis://host:0",
    "redis://host:65536", "redis://host:6a", "redis://host:1/x", "redis://host:1/99999999999",
    "redis://secret@host:1", "redis://u:%4@host:1", "redis://u:%zz@host:1", "redis://a:1,b:2",
    "sentinel://a:1", "sentinel://a:1/", "sentinel://a:1//2", "sentinel://a:1,/m", "sentinel://,a:1/m",
    "sentinel://a,b:1/m", "sentinel://a:1/m/x",
    "sentinel://a:1,a:2,a:3,a:4,a:5,a:6,a:7,a:8,a:9,a:1,a:2,a:3,a:4,a:5,a:6,a:7,a:8/m" };

START_TEST(what_is_no_address_is_refused)
{
    struct arena arena;
    struct redis_url got;
    struct error err = { 0 };

    arena_init(&arena);
    ck_assert_msg(
        redis_url_parse(bad_cases[_i], &arena, &got, &err) == STATUS_INVALID, "accepted: %s", bad_cases[_i]);
    ck_assert_ptr_nonnull(strstr(err.message, "redis[s]://"));
    ck_assert_ptr_null(strstr(err.message, "secret"));
    arena_cleanup(&arena);
}
END_TEST

Suite *test_redis_url_suite(void)
{
    Suite *suite = suite_create("redis_url");
    TCase *tc = tcase_create("redis_url");

    tcase_add_loop_test(tc, an_address_is_read, 0, ARRAY_LEN(good_cases));
    tcase_add_loop_test(tc, what_is_no_address_is_refused, 0, ARRAY_LEN(bad_cases));
    suite_add_tcase(suite, tc);
    return suite;
}

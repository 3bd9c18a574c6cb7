/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/config.c.
 */
#include "base/config.h"

#include <check.h>
#include <string.h>

#include "base/renamed_settings.h"

struct sample {
    const char *listen;
    const char *database;
    int64_t threads;
    int mode;
};

static const char *const modes[] = { "none", "keys", NULL };

static const struct config_setting settings[] = {
    {
        .name = "TAVOLA_LISTEN",
        .type = CONFIG_STRING,
        .offset = offsetof(struct sample, listen),
        .fallback = "127.0.0.1:50051",
        .accepts = config_is_address,
        .allowed = CONFIG_ADDRESS_ALLOWED,
        .help = "where to serve",
    },
    {
        .name = "TAVOLA_DATABASE",
        .type = CONFIG_SECRET,
        .offset = offsetof(struct sample, database),
        .required = true,
        .accepts = config_is_address,
        .allowed = CONFIG_ADDRESS_ALLOWED,
        .help = "which database",
    },
    {
        .name = "TAVOLA_THREADS",
        .type = CONFIG_INT,
        .offset = offsetof(struct sample, threads),
        .fallback = "4",
        .min = 1,
        .max = 64,
        .help = "how many threads",
    },
    {
        .name = "TAVOLA_MODE",
        .type = CONFIG_CHOICE,
        .offset = offsetof(struct sample, mode),
        .fallback = "keys",
        .choices = modes,
        .help = "which mode",
    },
};

static const struct config_program program = {
    .name = "sample",
    .version = "1",
    .summary = "a sample",
    .settings = settings,
    .count = ARRAY_LEN(settings),
};

START_TEST(values_and_defaults_fill_the_struct)
{
    char *environment[] = { "PATH=/bin", "TAVOLA_DATABASE=unix:/db", "TAVOLA_THREADS=64",
        "TAVOLA_MODE=", NULL };
    struct sample sample;
    struct buf problems;

    buf_init(&problems, NULL);

    ck_assert_uint_eq(config_load(&program, environment, &sample, &problems), 0);

    ck_assert_str_eq(sample.listen, "127.0.0.1:50051");
    ck_assert_str_eq(sample.database, "unix:/db");
    ck_assert_int_eq(sample.threads, 64);
    ck_assert_int_eq(sample.mode, 1);
    buf_cleanup(&problems);
}
END_TEST

static const struct problem_case {
    const char *name;
    char *variable;
    const char *says[3];
} problem_cases[] = {
    { "not a number", "TAVOLA_THREADS=many", { "TAVOLA_THREADS", "\"many\"", "1..64" } },
    { "a number with a tail", "TAVOLA_THREADS=4x", { "TAVOLA_THREADS", "\"4x\"", "1..64" } },
    { "one too few", "TAVOLA_THREADS=0", { "TAVOLA_THREADS", "\"0\"", "1..64" } },
    { "one too many", "TAVOLA_THREADS=65", { "TAVOLA_THREADS", "\"65\"", "1..64" } },
    { "past 64 bits", "TAVOLA_THREADS=99999999999999999999", { "TAVOLA_THREADS", "bad value", "1..64" } },
    { "no such choice", "TAVOLA_MODE=open", { "TAVOLA_MODE", "\"open\"", "none, keys" } },
    { "not an address", "TAVOLA_LISTEN=nowhere", { "TAVOLA_LISTEN", "\"nowhere\"", "host:port" } },
    { "misspelt", "TAVOLA_THREDS=4", { "TAVOLA_THREDS", "not a setting", "did you mean TAVOLA_THREADS?" } },
    { "unheard of", "TAVOLA_COLOUR_OF_SKY=blue", { "TAVOLA_COLOUR_OF_SKY", "not a setting", "--help" } },
    { "a service link", "TAVOLA_PORT=tcp://10.0.0.1:50051",
        { "TAVOLA_PORT", "Kubernetes", "enableServiceLinks" } },
    { "a link's port", "TAVOLA_PORT_50051_TCP_ADDR=10.0.0.1",
        { "Kubernetes", "enableServiceLinks", "false" } },
    { "a link's host", "TAVOLA_SERVICE_HOST=10.0.0.1", { "Kubernetes", "enableServiceLinks", "false" } },
};

START_TEST(a_problem_says_which_why_and_what_is_allowed)
{
    const struct problem_case *c = &problem_cases[_i];
    char *environment[] = { "TAVOLA_DATABASE=unix:/db", c->variable, NULL };
    struct sample sample;
    struct buf problems;
    size_t wrong;

    buf_init(&problems, NULL);

    wrong = config_load(&program, environment, &sample, &problems);
    buf_append_byte(&problems, '\0');

    ck_assert_msg(wrong == 1, "%s: %zu problems", c->name, wrong);
    for (size_t i = 0; i < ARRAY_LEN(c->says); i++)
        ck_assert_msg(
            strstr(problems.data, c->says[i]) != NULL, "%s: %s lacks %s", c->name, problems.data, c->says[i]);
    buf_cleanup(&problems);
}
END_TEST

START_TEST(an_old_name_of_a_setting_is_refused_with_the_new_one)
{
    const struct renamed_setting *renamed = &renamed_settings[_i];
    char variable[96], advice[96];
    char *environment[] = { "TAVOLA_DATABASE=unix:/db", variable, NULL };
    bool is_known = false;
    struct sample sample;
    struct buf problems;

    buf_init(&problems, NULL);
    snprintf(variable, sizeof(variable), "%s=1", renamed->old_name);
    snprintf(advice, sizeof(advice), "; it is called %s now\n", renamed->new_name);

    ck_assert_uint_eq(config_load(&program, environment, &sample, &problems), 1);
    buf_append_byte(&problems, '\0');

    ck_assert_msg(strstr(problems.data, advice) != NULL, "%s lacks %s", problems.data, advice);
    for (size_t i = 0; config_known[i]; i++) {
        ck_assert_str_ne(config_known[i], renamed->old_name);
        is_known = is_known || strcmp(config_known[i], renamed->new_name) == 0;
    }
    ck_assert_msg(is_known, "%s is not a setting", renamed->new_name);
    buf_cleanup(&problems);
}
END_TEST

START_TEST(every_problem_is_told_at_once)
{
    char *environment[] = { "TAVOLA_THREADS=0", "TAVOLA_MODE=open", "TAVOLA_DATABASES=hunter2", NULL };
    struct sample sample;
    struct buf problems;

    buf_init(&problems, NULL);

    ck_assert_uint_eq(config_load(&program, environment, &sample, &problems), 4);
    buf_append_byte(&problems, '\0');

    ck_assert_ptr_nonnull(strstr(problems.data, "TAVOLA_DATABASE is not set"));
    ck_assert_ptr_null(strstr(problems.data, "hunter2"));
    buf_cleanup(&problems);
}
END_TEST

START_TEST(a_bad_secret_is_not_repeated)
{
    char *environment[] = { "TAVOLA_DATABASE=hunter2", NULL };
    struct sample sample;
    struct buf problems;

    buf_init(&problems, NULL);

    ck_assert_uint_eq(config_load(&program, environment, &sample, &problems), 1);
    buf_append_byte(&problems, '\0');

    ck_assert_ptr_nonnull(strstr(problems.data, "TAVOLA_DATABASE has a bad value"));
    ck_assert_ptr_null(strstr(problems.data, "hunter2"));
    buf_cleanup(&problems);
}
END_TEST

static const struct address_case {
    const char *text;
    bool fits;
} address_cases[] = {
    { "127.0.0.1:50051", true },
    { "localhost:0", true },
    { "[::1]:65535", true },
    { "unix:/run/tavola", true },
    { "unix:relative", false },
    { "127.0.0.1", false },
    { "127.0.0.1:", false },
    { ":50051", false },
    { "127.0.0.1:65536", false },
    { "127.0.0.1:5x", false },
    { "::1:50051", false },
    { "[::1:50051", false },
    { "http://host:1", false },
};

START_TEST(addresses_are_told_from_other_text)
{
    const struct address_case *c = &address_cases[_i];

    ck_assert_msg(config_is_address(c->text) == c->fits, "%s", c->text);
}
END_TEST

Suite *test_config_suite(void)
{
    Suite *suite = suite_create("config");
    TCase *tc = tcase_create("config");

    tcase_add_test(tc, values_and_defaults_fill_the_struct);
    tcase_add_loop_test(tc, a_problem_says_which_why_and_what_is_allowed, 0, ARRAY_LEN(problem_cases));
    tcase_add_loop_test(
        tc, an_old_name_of_a_setting_is_refused_with_the_new_one, 0, (int)renamed_settings_count);
    tcase_add_test(tc, every_problem_is_told_at_once);
    tcase_add_test(tc, a_bad_secret_is_not_repeated);
    tcase_add_loop_test(tc, addresses_are_told_from_other_text, 0, ARRAY_LEN(address_cases));
    suite_add_tcase(suite, tc);
    return suite;
}

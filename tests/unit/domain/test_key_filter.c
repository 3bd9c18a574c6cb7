#include "domain/key_filter.h"

#include <check.h>
#include <stdlib.h>

#include "base/buf.h"
#include "domain/limits.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct key_filter parsed(const char *text)
{
    struct key_filter filter;
    struct error err = { 0 };

    ck_assert_msg(
        key_filter_parse(str_of(text), &arena, &filter, &err) == STATUS_OK, "'%s': %s", text, err.message);
    return filter;
}

/* "[low,high)" with * for no bound. */
static struct str shown(const struct interval *interval)
{
    const char *open = interval->has_low && interval->low_open ? "(" : "[";
    const char *close = interval->has_high && interval->high_open ? ")" : "]";

    return arena_format(&arena, "%s%.*s,%.*s%s", open,
        STR_ARG(interval->has_low ? interval->low : str_of("*")),
        STR_ARG(interval->has_high ? interval->high : str_of("*")), close);
}

static const struct range_case {
    const char *text, *partition, *row;
} range_cases[] = {
    { "", "[*,*]", "[*,*]" },
    { "   ", "[*,*]", "[*,*]" },
    { "PartitionKey eq 'p'", "[p,p]", "[*,*]" },
    { "'p' eq PartitionKey", "[p,p]", "[*,*]" },
    { "RowKey gt 'r'", "[*,*]", "(r,*]" },
    { "RowKey ge 'r'", "[*,*]", "[r,*]" },
    { "RowKey lt 'r'", "[*,*]", "[*,r)" },
    { "RowKey le 'r'", "[*,*]", "[*,r]" },
    { "'r' gt RowKey", "[*,*]", "[*,r)" },
    { "'r' ge RowKey", "[*,*]", "[*,r]" },
    { "'r' lt RowKey", "[*,*]", "(r,*]" },
    { "'r' le RowKey", "[*,*]", "[r,*]" },
    { "PartitionKey eq 'p' and RowKey ge 'a' and RowKey lt 'b'", "[p,p]", "[a,b)" },
    { "((PartitionKey eq 'p')and(RowKey eq 'r'))", "[p,p]", "[r,r]" },
    { "PartitionKey eq('p')", "[p,p]", "[*,*]" },
    { "(PartitionKey)eq 'p'", "[p,p]", "[*,*]" },
    { "\tPartitionKey   eq\n'p' ", "[p,p]", "[*,*]" },
    { "RowKey ge 'a' and RowKey ge 'c' and RowKey ge 'b'", "[*,*]", "[c,*]" },
    { "RowKey ge 'a' and RowKey gt 'a'", "[*,*]", "(a,*]" },
    { "RowKey gt 'a' and RowKey ge 'a'", "[*,*]", "(a,*]" },
    { "RowKey le 'a' and RowKey lt 'a'", "[*,*]", "[*,a)" },
    { "RowKey lt 'c' and RowKey lt 'b'", "[*,*]", "[*,b)" },
    { "RowKey ge 'a' and RowKey eq 'a'", "[*,*]", "[a,a]" },
    { "PartitionKey eq ''", "[,]", "[*,*]" },
    { "PartitionKey eq 'it''s'", "[it's,it's]", "[*,*]" },
    { "PartitionKey eq ''''", "[',']", "[*,*]" },
    { "PartitionKey eq ' and or '", "[ and or , and or ]", "[*,*]" },
    { "PartitionKey eq '\xC3\xA9'", "[\xC3\xA9,\xC3\xA9]", "[*,*]" },
};

START_TEST(key_comparisons_become_ranges)
{
    const struct range_case *c = &range_cases[_i];
    struct key_filter filter = parsed(c->text);

    ck_assert(!filter.nothing);
    ck_assert_msg(str_equal(shown(&filter.partition), str_of(c->partition)), "'%s': partition %.*s", c->text,
        STR_ARG(shown(&filter.partition)));
    ck_assert_msg(str_equal(shown(&filter.row), str_of(c->row)), "'%s': row %.*s", c->text,
        STR_ARG(shown(&filter.row)));
}
END_TEST

static const struct exclusion_case {
    const char *text, *partition, *row;
    bool want;
} exclusion_cases[] = {
    { "RowKey ne 'r'", "p", "r", false },
    { "RowKey ne 'r'", "r", "q", true },
    { "'p' ne PartitionKey", "p", "r", false },
    { "'p' ne PartitionKey", "q", "p", true },
    { "PartitionKey eq 'p' and RowKey ne 'a' and RowKey ne 'b'", "p", "a", false },
    { "PartitionKey eq 'p' and RowKey ne 'a' and RowKey ne 'b'", "p", "b", false },
    { "PartitionKey eq 'p' and RowKey ne 'a' and RowKey ne 'b'", "p", "c", true },
    { "PartitionKey eq 'p' and PartitionKey ne 'p'", "p", "a", false },
    { "RowKey ne ''", "p", "", false },
};

START_TEST(unequal_keys_are_left_out)
{
    const struct exclusion_case *c = &exclusion_cases[_i];
    struct key_filter filter = parsed(c->text);
    struct entity_key key = { str_of(c->partition), str_of(c->row) };

    ck_assert_msg(
        key_filter_matches(&filter, &key) == c->want, "'%s' and (%s, %s)", c->text, c->partition, c->row);
}
END_TEST

static const char *const contradictions[] = {
    "PartitionKey eq 'a' and PartitionKey eq 'b'",
    "RowKey gt 'a' and RowKey lt 'a'",
    "RowKey ge 'a' and RowKey lt 'a'",
    "RowKey gt 'a' and RowKey le 'a'",
    "RowKey eq 'a' and RowKey gt 'a'",
    "RowKey ge 'b' and RowKey le 'a' and PartitionKey eq 'p'",
};

START_TEST(a_contradiction_matches_nothing)
{
    struct key_filter filter = parsed(contradictions[_i]);
    struct entity_key key = { STR_LITERAL("a"), STR_LITERAL("a") };

    ck_assert_msg(filter.nothing, "'%s'", contradictions[_i]);
    ck_assert(!key_filter_matches(&filter, &key));
}
END_TEST

static const struct refusal_case {
    const char *text;
    enum status status;
    const char *position;
} refusal_cases[] = {
    { "PartitionKey", STATUS_INVALID, "0" },
    { "PartitionKey eq", STATUS_INVALID, "15" },
    { "PartitionKey eq 'p", STATUS_INVALID, "16" },
    { "PartitionKey eq 'p' and", STATUS_INVALID, "23" },
    { "PartitionKey eq 'p' and and RowKey eq 'r'", STATUS_INVALID, "24" },
    { "PartitionKey eq 'p' RowKey eq 'r'", STATUS_INVALID, "20" },
    { "(PartitionKey eq 'p'", STATUS_INVALID, "20" },
    { "PartitionKey eq 'p')", STATUS_INVALID, "19" },
    { "()", STATUS_INVALID, "1" },
    { "PartitionKey EQ 'p'", STATUS_INVALID, "13" },
    { "PartitionKey eq 'p'and RowKey eq 'r'", STATUS_INVALID, "19" },
    { "PartitionKey eq p'p'", STATUS_INVALID, "16" },
    { "eq 'p'", STATUS_INVALID, "0" },
    { "1", STATUS_INVALID, "0" },
    { "'a'", STATUS_INVALID, "0" },
    { "A add 1", STATUS_INVALID, "2" },
    { "PartitionKey and A eq 1", STATUS_INVALID, "0" },
    { "not Timestamp", STATUS_INVALID, "4" },
    { "A eq null", STATUS_INVALID, "5" },
    { "A lt null", STATUS_INVALID, "5" },
    { "A eq 1 or (B eq 2 and C eq null)", STATUS_INVALID, "27" },
    { "A eq 12x", STATUS_INVALID, "7" },
    { "A eq 1e", STATUS_INVALID, "7" },
    { "A eq -x", STATUS_INVALID, "5" },
    { "A eq 9223372036854775808", STATUS_INVALID, "5" },
    { "A eq datetime'yesterday'", STATUS_INVALID, "5" },
    { "A eq datetime'2008-13-10T00:00:00Z'", STATUS_INVALID, "5" },
    { "A eq datetime'2008-07-10T24:00'", STATUS_INVALID, "5" },
    { "A eq guid'c9da6455'", STATUS_INVALID, "5" },
    { "A eq X'abc'", STATUS_INVALID, "5" },
    { "A eq binary'zz'", STATUS_INVALID, "5" },
    { "A eq 1 and B ? 2", STATUS_INVALID, "13" },
    { "f(A,) eq 1", STATUS_INVALID, "4" },
    { "f(A eq 1", STATUS_INVALID, "8" },
    { "a/ eq 1", STATUS_INVALID, NULL },
    { "PartitionKey eq '\xC3'", STATUS_INVALID, "17" },
    { "PartitionKey eq 'p' or PartitionKey eq 'q'", STATUS_UNIMPLEMENTED, "20" },
    { "not (PartitionKey eq 'p')", STATUS_UNIMPLEMENTED, "0" },
    { "not PartitionKey eq 'p'", STATUS_UNIMPLEMENTED, "0" },
    { "PartitionKey eq 5", STATUS_UNIMPLEMENTED, "16" },
    { "Name eq 'x'", STATUS_UNIMPLEMENTED, "0" },
    { "partitionkey eq 'p'", STATUS_UNIMPLEMENTED, "0" },
    { "Timestamp ge datetime'2008-07-10T00:00:00.1234567+02:00'", STATUS_UNIMPLEMENTED, "0" },
    { "PartitionKey eq 'p' and Active", STATUS_UNIMPLEMENTED, "24" },
    { "true", STATUS_UNIMPLEMENTED, "0" },
    { "PartitionKey eq RowKey", STATUS_UNIMPLEMENTED, "13" },
    { "'a' eq 'a'", STATUS_UNIMPLEMENTED, "4" },
    { "startswith(PartitionKey,'p')", STATUS_UNIMPLEMENTED, "0" },
    { "startswith(PartitionKey,'p') eq true", STATUS_UNIMPLEMENTED, "0" },
    { "now() gt Timestamp", STATUS_UNIMPLEMENTED, NULL },
    { "A add 1 eq 2", STATUS_UNIMPLEMENTED, "2" },
    { "$it/Name eq 'x'", STATUS_UNIMPLEMENTED, "0" },
    { "(A eq 1) eq true", STATUS_UNIMPLEMENTED, NULL },
    { "A eq -12", STATUS_UNIMPLEMENTED, NULL },
    { "A eq 12L and B eq 1.5e-3 and C eq 3D and D eq -INF and E eq NaN", STATUS_UNIMPLEMENTED, NULL },
    { "A eq -9223372036854775808", STATUS_UNIMPLEMENTED, NULL },
    { "A eq guid'C9DA6455-213d-42c9-9a79-3e9149a57833'", STATUS_UNIMPLEMENTED, NULL },
    { "A eq X'' and B eq x'0aFF' and C eq binary'00'", STATUS_UNIMPLEMENTED, NULL },
    { "A eq datetime'2008-07-10'", STATUS_UNIMPLEMENTED, NULL },
    { "A eq datetime'2008-07-10T00:00'", STATUS_UNIMPLEMENTED, NULL },
};

START_TEST(everything_else_is_refused_by_name_and_place)
{
    const struct refusal_case *c = &refusal_cases[_i];
    struct key_filter filter;
    struct error err = { 0 };

    enum status got = key_filter_parse(str_of(c->text), &arena, &filter, &err);

    ck_assert_msg(got == c->status, "'%s': got %s (%s)", c->text, status_name(got), err.message);
    ck_assert_str_eq(err.reason, got == STATUS_INVALID ? "INVALID_INPUT" : "NOT_IMPLEMENTED");
    ck_assert_str_eq(err.meta[0].key, "position");
    if (c->position)
        ck_assert_msg(strcmp(err.meta[0].value, c->position) == 0, "'%s': at %s", c->text, err.meta[0].value);
}
END_TEST

static struct str repeated(const char *head, const char *body, size_t times, const char *tail)
{
    struct buf out;

    buf_init(&out, &arena);
    buf_append(&out, str_of(head));
    while (times-- > 0)
        buf_append(&out, str_of(body));
    buf_append(&out, str_of(tail));
    return buf_str(&out);
}

static enum status status_of(struct str text)
{
    struct key_filter filter;
    struct error err = { 0 };

    return key_filter_parse(text, &arena, &filter, &err);
}

START_TEST(depth_size_and_number_are_bounded)
{
    struct str closed = repeated("", ")", LIMIT_FILTER_DEPTH, ""),
               one_more = repeated("", ")", LIMIT_FILTER_DEPTH + 1, "");
    const char *comparison = " and RowKey ge 'a'";

    ck_assert_int_eq(status_of(repeated("", "(", LIMIT_FILTER_DEPTH,
                         arena_format(&arena, "RowKey eq 'a'%.*s", STR_ARG(closed)).data)),
        STATUS_OK);
    ck_assert_int_eq(status_of(repeated("", "(", LIMIT_FILTER_DEPTH + 1,
                         arena_format(&arena, "RowKey eq 'a'%.*s", STR_ARG(one_more)).data)),
        STATUS_INVALID);
    ck_assert_int_eq(status_of(repeated("", "not ", LIMIT_FILTER_DEPTH + 1, "A")), STATUS_INVALID);
    ck_assert_int_eq(status_of(repeated("", "f(", LIMIT_FILTER_DEPTH + 1, "A")), STATUS_INVALID);
    ck_assert_int_eq(
        status_of(repeated("RowKey ge 'a'", comparison, LIMIT_FILTER_COMPARISONS - 1, "")), STATUS_OK);
    ck_assert_int_eq(
        status_of(repeated("RowKey ge 'a'", comparison, LIMIT_FILTER_COMPARISONS, "")), STATUS_INVALID);
    ck_assert_int_eq(status_of(repeated("RowKey eq '", "a", LIMIT_FILTER_BYTES - 12, "'")), STATUS_OK);
    ck_assert_int_eq(status_of(repeated("RowKey eq '", "a", LIMIT_FILTER_BYTES - 11, "'")), STATUS_INVALID);
    ck_assert_int_eq(status_of(repeated("A", " and A", 5000, "")), STATUS_UNIMPLEMENTED);
}
END_TEST

START_TEST(a_bound_ends_before_a_nul)
{
    struct key_filter filter;
    struct error err = { 0 };

    ck_assert_int_eq(
        key_filter_parse(STR_LITERAL("RowKey ge 'a\0b' and PartitionKey lt 'a\0b'"), &arena, &filter, &err),
        STATUS_OK);
    ck_assert(str_equal(shown(&filter.row), STR_LITERAL("(a,*]")));
    ck_assert(str_equal(shown(&filter.partition), STR_LITERAL("[*,a]")));
    ck_assert_int_eq(key_filter_parse(STR_LITERAL("RowKey eq 'a\0b'"), &arena, &filter, &err), STATUS_OK);
    ck_assert(filter.nothing);
}
END_TEST

START_TEST(intervals_know_what_they_hold)
{
    struct key_filter filter = parsed("PartitionKey eq 'p' and RowKey gt 'a' and RowKey le 'c'");
    struct entity_key key = { STR_LITERAL("p"), STR_LITERAL("a") };

    ck_assert(interval_is_point(&filter.partition));
    ck_assert(!interval_is_point(&filter.row));
    ck_assert(!key_filter_matches(&filter, &key));
    key.row = STR_LITERAL("a!");
    ck_assert(key_filter_matches(&filter, &key));
    key.row = STR_LITERAL("c");
    ck_assert(key_filter_matches(&filter, &key));
    key.row = STR_LITERAL("c!");
    ck_assert(!key_filter_matches(&filter, &key));
    key = (struct entity_key){ STR_LITERAL("q"), STR_LITERAL("b") };
    ck_assert(!key_filter_matches(&filter, &key));
}
END_TEST

/* ---- a law: the ranges match exactly the keys that the comparisons match one by one ---- */

enum { RANDOM_FILTERS = 2000, LETTERS = 3 };

static bool compare_holds(const char *operator, int order)
{
    switch (operator[0] * 256 + operator[1]) {
    case 'e' * 256 + 'q':
        return order == 0;
    case 'g' * 256 + 't':
        return order > 0;
    case 'g' * 256 + 'e':
        return order >= 0;
    case 'l' * 256 + 't':
        return order < 0;
    default:
        return order <= 0;
    }
}

START_TEST(random_ranges_match_what_their_comparisons_match)
{
    static const char *const operators[] = { "eq", "gt", "ge", "lt", "le" };
    static const char *const texts[] = { "", "a", "ab", "b", "ba", "c" };
    unsigned seed = 7;

    for (int round = 0; round < RANDOM_FILTERS; round++) {
        const char *chosen[LETTERS], *bounds[LETTERS];
        struct buf text;
        struct key_filter filter;

        buf_init(&text, &arena);
        for (int i = 0; i < LETTERS; i++) {
            chosen[i] = operators[(unsigned)rand_r(&seed) % ARRAY_LEN(operators)];
            bounds[i] = texts[(unsigned)rand_r(&seed) % ARRAY_LEN(texts)];
            buf_format(&text, "%sRowKey %s '%s'", i ? " and " : "", chosen[i], bounds[i]);
        }
        buf_append_byte(&text, 0);
        filter = parsed(text.data);
        for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
            struct entity_key key = { STR_EMPTY, str_of(texts[k]) };
            bool want = true;

            for (int i = 0; i < LETTERS; i++)
                want = want && compare_holds(chosen[i], strcmp(texts[k], bounds[i]));
            ck_assert_msg(
                key_filter_matches(&filter, &key) == want, "%s does not agree on '%s'", text.data, texts[k]);
        }
    }
}
END_TEST

Suite *test_key_filter_suite(void)
{
    Suite *suite = suite_create("key_filter");
    TCase *tc = tcase_create("key_filter");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, key_comparisons_become_ranges, 0, ARRAY_LEN(range_cases));
    tcase_add_loop_test(tc, unequal_keys_are_left_out, 0, ARRAY_LEN(exclusion_cases));
    tcase_add_loop_test(tc, a_contradiction_matches_nothing, 0, ARRAY_LEN(contradictions));
    tcase_add_loop_test(tc, everything_else_is_refused_by_name_and_place, 0, ARRAY_LEN(refusal_cases));
    tcase_add_test(tc, depth_size_and_number_are_bounded);
    tcase_add_test(tc, a_bound_ends_before_a_nul);
    tcase_add_test(tc, intervals_know_what_they_hold);
    tcase_add_test(tc, random_ranges_match_what_their_comparisons_match);
    suite_add_tcase(suite, tc);
    return suite;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of client/api_comments.c.
 */
#include "client/api_comments.h"

#include <check.h>
#include <stdlib.h>

#include "base/macros.h"

static const char proto[] = "// License\n"
                            "syntax = \"proto3\";\n"
                            "\n"
                            "// Things.\n"
                            "service Shop {\n"
                            "  // Sell one,\n"
                            "  // or two.\n"
                            "  rpc Sell(SellRequest) returns (stream SellResponse);\n"
                            "}\n"
                            "\n"
                            "message SellRequest {\n"
                            "  // What.\n"
                            "  string name = 1;\n"
                            "  string plain = 2;\n"
                            "  // One of them.\n"
                            "  oneof way {\n"
                            "    // By air.\n"
                            "    Plane plane = 3;\n"
                            "  }\n"
                            "  // A bag.\n"
                            "  message Bag {\n"
                            "    // Its name.\n"
                            "    string name = 1;\n"
                            "  }\n"
                            "  // By number.\n"
                            "  map<string, Bag> bags = 4;\n"
                            "}\n"
                            "\n"
                            "// Colours.\n"
                            "enum Colour {\n"
                            "  // Red.\n"
                            "  COLOUR_RED = 0;\n"
                            "}\n"
                            "message Empty {}\n"
                            "message Last {\n"
                            "  // At the end.\n"
                            "  int32 x = 1;\n"
                            "}\n";

static const struct comment_case {
    const char *scope, *member, *want;
} comment_cases[] = {
    { "Shop", "", "Things." },
    { "Shop", "Sell", "Sell one, or two." },
    { "SellRequest", "", "" },
    { "SellRequest", "name", "What." },
    { "SellRequest", "plain", "" },
    { "SellRequest", "plane", "By air." },
    { "SellRequest", "bags", "By number." },
    { "SellRequest.Bag", "", "A bag." },
    { "SellRequest.Bag", "name", "Its name." },
    { "Colour", "COLOUR_RED", "Red." },
    { "Last", "x", "At the end." },
    { "Bag", "name", "" },
    { "Sell", "name", "" },
    { "SellRequest", "nam", "" },
    { "None", "name", "" },
};

START_TEST(a_comment_is_found_by_scope_and_member)
{
    const struct comment_case *c = &comment_cases[_i];
    struct arena arena;
    struct str got;

    arena_init(&arena);
    got = api_comments_find_in(proto, str_of(c->scope), str_of(c->member), &arena);

    ck_assert_msg(str_equal(got, str_of(c->want)), "%s.%s: %.*s", c->scope, c->member, STR_ARG(got));
    arena_cleanup(&arena);
}
END_TEST

START_TEST(lines_are_broken_at_the_width)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    api_comments_print(str_of("one two three averylongword x"), 2, 9, out);
    fclose(out);

    ck_assert_str_eq(text, "  one two\n  three\n  averylongword\n  x\n");
    free(text);
}
END_TEST

Suite *test_api_comments_suite(void);

Suite *test_api_comments_suite(void)
{
    Suite *suite = suite_create("api_comments");
    TCase *tc = tcase_create("comments");

    tcase_add_loop_test(tc, a_comment_is_found_by_scope_and_member, 0, ARRAY_LEN(comment_cases));
    tcase_add_test(tc, lines_are_broken_at_the_width);
    suite_add_tcase(suite, tc);
    return suite;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* test_xml.c - XML bodies: what is read of them, what is refused, and what is written. */
#include <check.h>

#include "base/macros.h"
#include "domain/access/access.h"
#include "domain/catalogue/access_policy.h"
#include "odata/odata_error.h"
#include "odata/xml/xml_acl.h"
#include "odata/xml/xml_document.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

/* ---- documents ---- */

START_TEST(elements_become_a_tree)
{
    struct xml_element *root;

    ck_assert_int_eq(
        xml_document_read(STR_LITERAL("\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-16\"?><!-- x -->"
                                      "<p:a b='c' xmlns:p='urn:p'> <b> x &amp;&#65;<![CDATA[<y>]]> </b>"
                                      "ignored<c/><?do it?></p:a>"),
            &arena, &root, NULL),
        STATUS_OK);
    ck_assert(str_equal(root->name, STR_LITERAL("a")));
    ck_assert(str_equal(xml_document_child(root, "b")->text, STR_LITERAL("x &A<y>")));
    ck_assert_uint_eq(xml_document_child(root, "c")->text.len, 0);
    ck_assert_ptr_null(xml_document_child(root, "d"));
    ck_assert_ptr_eq(root->first->next, root->last);
}
END_TEST

#define DEEP "<a><a><a><a><a><a><a><a>"
#define DEEP_END "</a></a></a></a></a></a></a></a>"

static const char *const bad_documents[] = {
    "",
    " ",
    "a",
    "<a>",
    "<a></b>",
    "<a/><b/>",
    "<a>&b;</a>",
    "<a>\x01</a>",
    "<a>\xFF</a>",
    "<!DOCTYPE a><a/>",
    "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
    "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
    "<!DOCTYPE a [<!ENTITY b 'bbbb'><!ENTITY c '&b;&b;&b;&b;'>]><a>&c;&c;&c;</a>",
    "<!DOCTYPE a [<!ENTITY % b SYSTEM 'http://127.0.0.1:1/'> %b;]><a/>",
    "<a><b></a></b>",
    DEEP "<a/>" DEEP_END,
};

START_TEST(other_documents_are_refused)
{
    struct xml_element *root;
    struct error err = { 0 };

    ck_assert_int_eq(xml_document_read(str_of(bad_documents[_i]), &arena, &root, &err), STATUS_INVALID);
    ck_assert_str_eq(odata_error_find(&err)->code, "InvalidXmlDocument");
}
END_TEST

static struct str repeated(const char *begin, const char *text, int count, const char *end)
{
    struct buf out;

    buf_init(&out, &arena);
    buf_append(&out, str_of(begin));
    for (int i = 0; i < count; i++)
        buf_append(&out, str_of(text));
    buf_append(&out, str_of(end));
    return buf_str(&out);
}

START_TEST(size_depth_and_number_are_bounded)
{
    struct xml_element *root;

    ck_assert_int_eq(xml_document_read(STR_LITERAL(DEEP DEEP_END), &arena, &root, NULL), STATUS_OK);
    ck_assert_int_eq(
        xml_document_read(repeated("<a>", "<b/>", MAX_XML_ELEMENTS - 1, "</a>"), &arena, &root, NULL),
        STATUS_OK);
    ck_assert_int_eq(
        xml_document_read(repeated("<a>", "<b/>", MAX_XML_ELEMENTS, "</a>"), &arena, &root, NULL),
        STATUS_INVALID);
    ck_assert_int_eq(
        xml_document_read(repeated("<a>", "x", MAX_XML_BYTES - 7, "</a>"), &arena, &root, NULL), STATUS_OK);
    ck_assert_int_eq(xml_document_read(repeated("<a>", "x", MAX_XML_BYTES - 6, "</a>"), &arena, &root, NULL),
        STATUS_INVALID);
}
END_TEST

START_TEST(written_text_is_read_back)
{
    const struct str text = STR_LITERAL("a<b>&\"'\n\xC3\xA9");
    struct xml_element *root;
    struct buf out;

    buf_init(&out, &arena);
    buf_append(&out, STR_LITERAL("<a>"));
    xml_document_write_text(&out, text);
    xml_document_write_text(&out, STR_LITERAL("\x01"));
    buf_append(&out, STR_LITERAL("</a>"));
    ck_assert_int_eq(xml_document_read(buf_str(&out), &arena, &root, NULL), STATUS_OK);
    ck_assert(str_equal(root->text, text));
}
END_TEST

/* ---- policies ---- */

#define HEAD "<?xml version=\"1.0\" encoding=\"utf-8\"?>"
#define POLICIES                                                                                             \
    "<SignedIdentifiers><SignedIdentifier><Id>a&lt;b</Id><AccessPolicy>"                                     \
    "<Start>2026-11-22T10:00:00.0000000Z</Start><Expiry>2026-11-22T11:00:00.1234567Z</Expiry>"               \
    "<Permission>raudit</Permission></AccessPolicy></SignedIdentifier>"                                      \
    "<SignedIdentifier><Id>bare</Id><AccessPolicy></AccessPolicy></SignedIdentifier></SignedIdentifiers>"

START_TEST(policies_are_read_and_written)
{
    struct access_policies policies;
    struct buf out;

    ck_assert_int_eq(xml_acl_read(STR_LITERAL(POLICIES), &arena, &policies, NULL), STATUS_OK);
    ck_assert_uint_eq(policies.count, 2);
    ck_assert(str_equal(policies.items[0].id, STR_LITERAL("a<b")));
    ck_assert_uint_eq(policies.items[0].permissions, 63);
    ck_assert_int_eq(policies.items[0].expiry - policies.items[0].start, INT64_C(36001234567));
    ck_assert_uint_eq(policies.items[1].permissions, 0);
    ck_assert_int_eq(policies.items[1].start, 0);
    buf_init(&out, &arena);
    xml_acl_write(&policies, &arena, &out);
    ck_assert(str_equal(buf_str(&out), STR_LITERAL(HEAD POLICIES)));
}
END_TEST

START_TEST(no_policies_are_an_empty_list)
{
    struct access_policies policies = { .count = 7 };

    ck_assert_int_eq(xml_acl_read(STR_EMPTY, &arena, &policies, NULL), STATUS_OK);
    ck_assert_uint_eq(policies.count, 0);
    ck_assert_int_eq(xml_acl_read(STR_LITERAL("<SignedIdentifiers />"), &arena, &policies, NULL), STATUS_OK);
    ck_assert_uint_eq(policies.count, 0);
}
END_TEST

#define ONE(inside) "<SignedIdentifier><Id>a</Id><AccessPolicy>" inside "</AccessPolicy></SignedIdentifier>"
#define LIST(inside) "<SignedIdentifiers>" inside "</SignedIdentifiers>"
#define NAMED(id) "<SignedIdentifier><Id>" id "</Id></SignedIdentifier>"
#define ID_OF_64 "aaaaaaaabbbbbbbbccccccccddddddddeeeeeeeeffffffffgggggggghhhhhhhh"

static const struct {
    const char *body, *code; /* NULL: it is accepted */
} policy_cases[] = {
    { LIST(NAMED("a") NAMED("b") NAMED("c") NAMED("d") NAMED("e")), NULL },
    { LIST(NAMED("a") NAMED("b") NAMED("c") NAMED("d") NAMED("e") NAMED("f")), "InvalidXmlDocument" },
    { LIST(NAMED(ID_OF_64)), NULL },
    { LIST(NAMED(ID_OF_64 "i")), "InvalidXmlDocument" },
    { LIST(NAMED("a") NAMED("a")), "InvalidXmlDocument" },
    { LIST(NAMED("")), "InvalidXmlDocument" },
    { LIST(ONE("<Permission>ar</Permission>")), "InvalidXmlDocument" },
    { LIST(ONE("<Permission>rwd</Permission>")), "InvalidXmlDocument" },
    { LIST(ONE("<Permission/><Start/><Expiry/>")), NULL },
    { LIST(ONE("<Start>2026-11-22</Start>")), NULL },
    { LIST(ONE("<Start>tomorrow</Start>")), "InvalidXmlNodeValue" },
    { LIST(ONE("<Expiry>1600-01-01T00:00:00Z</Expiry>")), "InvalidXmlNodeValue" },
    { LIST(ONE("<Start>2026-11-23</Start><Expiry>2026-11-22</Expiry>")), "InvalidXmlDocument" },
    { "<SignedIdentifier/>", "InvalidXmlDocument" },
    { LIST("<Other/>"), "InvalidXmlDocument" },
};

START_TEST(policies_keep_the_rules_of_policies)
{
    struct access_policies policies;
    struct error err = { 0 };
    enum status status = xml_acl_read(str_of(policy_cases[_i].body), &arena, &policies, &err);

    ck_assert_int_eq(status == STATUS_OK, policy_cases[_i].code == NULL);
    if (policy_cases[_i].code)
        ck_assert_str_eq(odata_error_find(&err)->code, policy_cases[_i].code);
}
END_TEST

Suite *test_xml_suite(void)
{
    Suite *suite = suite_create("xml");
    TCase *tcase = tcase_create("xml");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, elements_become_a_tree);
    tcase_add_loop_test(tcase, other_documents_are_refused, 0, ARRAY_LEN(bad_documents));
    tcase_add_test(tcase, size_depth_and_number_are_bounded);
    tcase_add_test(tcase, written_text_is_read_back);
    tcase_add_test(tcase, policies_are_read_and_written);
    tcase_add_test(tcase, no_policies_are_an_empty_list);
    tcase_add_loop_test(tcase, policies_keep_the_rules_of_policies, 0, ARRAY_LEN(policy_cases));
    suite_add_tcase(suite, tcase);
    return suite;
}

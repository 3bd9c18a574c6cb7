/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/blobs/blob_hash.c, with the example of FIPS 180-2.
 */
#include "domain/blobs/blob_hash.h"

#include <check.h>

static const struct blob_digest of_abc = { { 0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
    0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61,
    0xf2, 0x00, 0x15, 0xad } };

START_TEST(the_digest_does_not_depend_on_how_the_bytes_are_divided)
{
    struct blob_hash *hash = blob_hash_new();
    struct blob_digest whole = blob_hash_of(STR_LITERAL("abc")), divided;

    blob_hash_add(hash, STR_LITERAL("a"));
    blob_hash_add(hash, STR_EMPTY);
    blob_hash_add(hash, STR_LITERAL("bc"));
    divided = blob_hash_end(hash);
    blob_hash_free(hash);

    ck_assert(blob_hash_equal(&whole, &of_abc));
    ck_assert(blob_hash_equal(&divided, &of_abc));
}
END_TEST

Suite *test_blob_hash_suite(void)
{
    Suite *suite = suite_create("blob_hash");
    TCase *tc = tcase_create("blob_hash");

    tcase_add_test(tc, the_digest_does_not_depend_on_how_the_bytes_are_divided);
    suite_add_tcase(suite, tc);
    return suite;
}

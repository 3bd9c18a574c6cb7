/* SPDX-License-Identifier: Apache-2.0 */
/* test_migrations.c - every migration says which programs it accepts, and what it locks. */
#include <check.h>

#include "domain/database/migration_header.h"
#include "store/connection/schema_version.h"
#include "store/migrations.h"

/* The last migration from before programs accepted later schemas. */
enum { LAST_WITHOUT_HEADER = 34 };

START_TEST(every_migration_has_a_header)
{
    for (size_t i = 0; i < migrations_count; i++) {
        const char *name = migrations_all[i]->name;
        int version = schema_version_of(migrations_all[i]);
        struct migration_header header;

        ck_assert_msg(migration_header_parse(str_of(migrations_all[i]->text), &header), "%s", name);
        if (version <= LAST_WITHOUT_HEADER)
            continue;
        ck_assert_msg(
            header.oldest_program > 0 && header.oldest_program <= version, "%s: -- programs:", name);
        ck_assert_msg(header.says_locks, "%s: -- locks:", name);
    }
}
END_TEST

Suite *test_migrations_suite(void)
{
    Suite *suite = suite_create("migrations");
    TCase *tc = tcase_create("migrations");

    tcase_add_test(tc, every_migration_has_a_header);
    suite_add_tcase(suite, tc);
    return suite;
}

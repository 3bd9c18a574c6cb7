/* SPDX-License-Identifier: Apache-2.0 */
/* test_allocator.c - freed memory goes back to the system, with the allocator of the server. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/macros.h"
#include "service/admission/allocator.h"

#ifdef TAVOLA_JEMALLOC
int mallctl(const char *name, void *old_value, size_t *old_bytes, void *new_value, size_t new_bytes);

START_TEST(the_settings_of_the_program_are_those_of_jemalloc)
{
    ssize_t decay_ms = 0;
    size_t size = sizeof(decay_ms);

    ck_assert_int_eq(mallctl("opt.dirty_decay_ms", &decay_ms, &size, NULL, 0), 0);

    ck_assert_int_eq(decay_ms, 5000);
}
END_TEST
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which keep freed memory for a while */
enum { BLOCKS = 20000, BLOCK_BYTES = 4000, MIB = 1024 * 1024 };

static long long resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long long size, resident;

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%lld %lld", &size, &resident), 2);
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

START_TEST(freed_memory_is_given_back_at_once)
{
    static char *blocks[BLOCKS];
    long long most;

    for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
        blocks[i] = malloc(BLOCK_BYTES);
        ck_assert_ptr_nonnull(blocks[i]);
        memset(blocks[i], 'x', BLOCK_BYTES);
    }
    most = resident_bytes();
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
        free(blocks[i]);

    allocator_give_back();

    ck_assert_int_lt(resident_bytes(), most - 50 * MIB);
}
END_TEST
#endif

Suite *test_allocator_suite(void)
{
    Suite *suite = suite_create("allocator");
    TCase *tc = tcase_create("allocator");

#ifdef TAVOLA_JEMALLOC
    tcase_add_test(tc, the_settings_of_the_program_are_those_of_jemalloc);
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_test(tc, freed_memory_is_given_back_at_once);
#endif
    suite_add_tcase(suite, tc);
    return suite;
}

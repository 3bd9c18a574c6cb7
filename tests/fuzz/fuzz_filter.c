/*
 * fuzz_filter.c - any bytes as a filter: it is parsed or refused with a reason, and what is accepted agrees
 * with itself. Not part of the default build:
 *
 *   clang -std=c17 -D_GNU_SOURCE -I. -g -O1 -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_filter.c \
 *       domain/filter*.c domain/reason.c domain/text.c domain/entity_key.c base/arena.c base/buf.c
 * base/error.c
 */
#include <assert.h>
#include <stdint.h>

#include "domain/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Both bounds of a range that is not contradictory are in it, or open. */
static void check_interval(const struct interval *interval)
{
    if (interval->has_low)
        assert(interval->low_open || interval_contains(interval, interval->low));
    if (interval->has_high)
        assert(interval->high_open || interval_contains(interval, interval->high));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct key_filter filter;
    struct error err = { 0 };
    enum status status;

    arena_init(&arena);
    status = key_filter_parse(str_of_bytes(data, size), &arena, &filter, &err);
    if (status == STATUS_OK && !filter.nothing) {
        check_interval(&filter.partition);
        check_interval(&filter.row);
    }
    if (status != STATUS_OK)
        assert(
            (status == STATUS_INVALID || status == STATUS_UNIMPLEMENTED) && err.reason && err.meta_count > 0);
    arena_cleanup(&arena);
    return 0;
}

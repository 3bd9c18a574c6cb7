/* SPDX-License-Identifier: Apache-2.0 */
/* migration_header.c - see the header. */
#include "domain/database/migration_header.h"

#include <limits.h>

#include "base/digits.h"
#include "base/macros.h"

/* Bytes per second on a network disk with other work: an operator plans with an upper bound. */
static const struct {
    const char *word;
    int64_t bytes_per_second;
} works[] = {
    [MIGRATION_MOMENT] = { "moment", INT64_MAX },
    [MIGRATION_SCAN] = { "scan", INT64_C(100) << 20 },
    [MIGRATION_INDEX] = { "index", INT64_C(20) << 20 },
    [MIGRATION_REWRITE] = { "rewrite", INT64_C(20) << 20 },
};

enum { CATALOGUE_MS = 50 };

static bool parse_lock(struct str words, struct migration_header *header)
{
    struct str table = str_take(&words, ' ');

    header->says_locks = true;
    if (str_equal(table, str_of("none")))
        return words.len == 0;
    for (size_t i = 0; i < ARRAY_LEN(works); i++)
        if (str_equal(words, str_of(works[i].word)) && header->lock_count < MAX_MIGRATION_LOCKS) {
            header->locks[header->lock_count++] =
                (struct migration_lock){ .table = table, .work = (enum migration_work)i };
            return table.len > 0;
        }
    return false;
}

static bool parse_programs(struct str words, struct migration_header *header)
{
    uint64_t version;

    if (header->oldest_program || !digits_parse_unsigned(words, INT_MAX, &version) || version == 0)
        return false;
    header->oldest_program = (int)version;
    return true;
}

static bool parse_comment(struct str line, struct migration_header *header)
{
    const struct str programs = str_of("-- programs: "), locks = str_of("-- locks: ");

    if (str_starts_with(line, programs))
        return parse_programs(str_from(line, programs.len), header);
    if (str_starts_with(line, locks))
        return parse_lock(str_from(line, locks.len), header);
    return true;
}

bool migration_header_parse(struct str text, struct migration_header *out)
{
    struct migration_header header = { 0 };

    while (str_starts_with(text, str_of("--")))
        if (!parse_comment(str_take(&text, '\n'), &header))
            return false;
    *out = header;
    return true;
}

int64_t migration_header_estimate_ms(enum migration_work work, int64_t table_bytes)
{
    return CATALOGUE_MS + table_bytes / (works[work].bytes_per_second / 1000);
}

bool migration_header_accepts(int known, int found, int oldest)
{
    return found == known || (found > known && oldest <= known);
}

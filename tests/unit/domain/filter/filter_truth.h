/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_truth.h - what comparisons and functions answer, as data: test_filter_truth.c tests the filter against
 * it and writes the tables of docs/filters.md from it.
 */
#ifndef TESTS_UNIT_DOMAIN_FILTER_FILTER_TRUTH_H
#define TESTS_UNIT_DOMAIN_FILTER_FILTER_TRUTH_H

#include <math.h>

#include "domain/properties/property.h"

/* How a stored value can stand to a literal, and what the operators answer then: eq ne gt ge lt le. */
static const struct truth_order {
    char sign;
    const char *shown;
    const char *answers;
} truth_orders[] = {
    { '<', "less", "FTFFTT" },
    { '=', "equal", "TFFTFT" },
    { '>', "greater", "FTTTFF" },
    { '!', "NaN", "FTFFFF" },
    { '-', "missing", "FFFFFF" },
};

static const char *const truth_operators[] = { "eq", "ne", "gt", "ge", "lt", "le" };

/* The literals: the columns of the first table. */
static const char *const truth_literals[] = {
    "5",
    "5L",
    "5.0",
    "NaN",
    "true",
    "false",
    "datetime'2020-01-01T00:00:00Z'",
    "guid'5a000000-0000-0000-0000-000000000000'",
    "X'05'",
    "'5'",
};

/* The questions that compare nothing: the columns of the second table. */
static const char *const truth_questions[] = {
    "P",
    "exists(P)",
    "startswith(P,'5')",
    "startswith(P,'')",
    "contains(P,'a')",
    "endswith(P,'a')",
};

#define TRUTH_TICKS_2020 INT64_C(132223104000000000)

/* The stored values: the rows of both tables. */
static const struct truth_value {
    const char *shown;
    struct value value;
    const char *orders;  /* one sign for each literal */
    const char *answers; /* T or F for each question */
} truth_values[] = {
    { "Int32 4", { .type = PROPERTY_INT32, .integer = 4 }, "<<<<<<<<<<", "FTFFFF" },
    { "Int32 5", { .type = PROPERTY_INT32, .integer = 5 }, "=<<<<<<<<<", "FTFFFF" },
    { "Int32 6", { .type = PROPERTY_INT32, .integer = 6 }, "><<<<<<<<<", "FTFFFF" },
    { "Int64 4", { .type = PROPERTY_INT64, .integer = 4 }, "<<<<<<<<<<", "FTFFFF" },
    { "Int64 5", { .type = PROPERTY_INT64, .integer = 5 }, "==<<<<<<<<", "FTFFFF" },
    { "Int64 6", { .type = PROPERTY_INT64, .integer = 6 }, ">><<<<<<<<", "FTFFFF" },
    { "Double 4.5", { .type = PROPERTY_DOUBLE, .number = 4.5 }, "<<<!<<<<<<", "FTFFFF" },
    { "Double 5", { .type = PROPERTY_DOUBLE, .number = 5 }, "===!<<<<<<", "FTFFFF" },
    { "Double 5.5", { .type = PROPERTY_DOUBLE, .number = 5.5 }, ">>>!<<<<<<", "FTFFFF" },
    { "Double -INF", { .type = PROPERTY_DOUBLE, .number = -INFINITY }, "<<<!<<<<<<", "FTFFFF" },
    { "Double INF", { .type = PROPERTY_DOUBLE, .number = INFINITY }, ">>>!<<<<<<", "FTFFFF" },
    { "Double NaN", { .type = PROPERTY_DOUBLE, .number = NAN }, "!!!!<<<<<<", "FTFFFF" },
    { "Boolean false", { .type = PROPERTY_BOOLEAN, .integer = 0 }, "<<<<<=<<<<", "FTFFFF" },
    { "Boolean true", { .type = PROPERTY_BOOLEAN, .integer = 1 }, "<<<<=><<<<", "TTFFFF" },
    { "DateTime 2019-12-31T23:59:59.9999999Z", { .type = PROPERTY_DATETIME, .integer = TRUTH_TICKS_2020 - 1 },
        "<<<<<<<<<<", "FTFFFF" },
    { "DateTime 2020-01-01T00:00:00Z", { .type = PROPERTY_DATETIME, .integer = TRUTH_TICKS_2020 },
        "<<<<<<=<<<", "FTFFFF" },
    { "DateTime 2020-01-01T00:00:00.0000001Z", { .type = PROPERTY_DATETIME, .integer = TRUTH_TICKS_2020 + 1 },
        "<<<<<<><<<", "FTFFFF" },
    { "Guid 59ffffff-...", { .type = PROPERTY_GUID, .bytes = { "59ffffff-ffff-ffff-ffff-ffffffffffff", 36 } },
        "<<<<<<<<<<", "FTFFFF" },
    { "Guid 5a000000-...", { .type = PROPERTY_GUID, .bytes = { "5a000000-0000-0000-0000-000000000000", 36 } },
        "<<<<<<<=<<", "FTFFFF" },
    { "Guid ff000000-...", { .type = PROPERTY_GUID, .bytes = { "ff000000-0000-0000-0000-000000000000", 36 } },
        "<<<<<<<><<", "FTFFFF" },
    { "Binary, empty", { .type = PROPERTY_BINARY, .bytes = { "", 0 } }, "<<<<<<<<<<", "FTFFFF" },
    { "Binary 05", { .type = PROPERTY_BINARY, .bytes = { "\x05", 1 } }, "<<<<<<<<=<", "FTFFFF" },
    { "Binary 05 00", { .type = PROPERTY_BINARY, .bytes = { "\x05\x00", 2 } }, "<<<<<<<<><", "FTFFFF" },
    { "String, empty", { .type = PROPERTY_STRING, .bytes = { "", 0 } }, "<<<<<<<<<<", "FTFTFF" },
    { "String \"5\"", { .type = PROPERTY_STRING, .bytes = { "5", 1 } }, "<<<<<<<<<=", "FTTTFF" },
    { "String \"5a\"", { .type = PROPERTY_STRING, .bytes = { "5a", 2 } }, "<<<<<<<<<>", "FTTTTT" },
    { "String \"Aab\"", { .type = PROPERTY_STRING, .bytes = { "Aab", 3 } }, "<<<<<<<<<>", "FTFTTF" },
    { "missing, or null", { .type = PROPERTY_NULL }, "----------", "FFFFFF" },
};

#endif

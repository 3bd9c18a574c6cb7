/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_pattern.c - see the header. The rules are in one table, the most specific first: log data is
 * also an append, and a time bucket also has few values.
 */
#include "domain/sampling/hot_pattern.h"

#include "base/macros.h"
#include "domain/sampling/time_key.h"

enum {
    MIN_SAMPLES = 50,       /* with fewer samples no pattern is recognised */
    HOT_SHARE_PERCENT = 10, /* of the table's accesses: a partition with less is not hot */
    ORDERED_PERCENT = 80,   /* of the steps have one direction; of random keys, half do */
    MAX_FEW_PARTITIONS = 8, /* up to this many values are few */
    LOG_WRITES_PER_READ = 10,
};

/* Whether part is at least `percent` percent of whole; false if whole is 0. */
static bool is_share(int64_t part, int64_t whole, int64_t percent)
{
    return whole > 0 && part * 100 >= whole * percent;
}

static int64_t accesses(const struct key_counter *counter)
{
    return counter->reads + counter->writes;
}

static bool is_ordered(int64_t in_order, int64_t against, int64_t writes)
{
    return is_share(in_order, in_order + against, ORDERED_PERCENT) && is_share(in_order, writes, 50);
}

static bool rises(const struct hot_subject *subject)
{
    const struct key_sketch *sketch = subject->sketch;
    const struct key_counter *counter = subject->counter;

    return counter ? is_ordered(counter->ascending, counter->descending, counter->writes)
                   : is_ordered(sketch->ascending, sketch->descending, sketch->writes);
}

static bool falls(const struct hot_subject *subject)
{
    const struct key_sketch *sketch = subject->sketch;
    const struct key_counter *counter = subject->counter;

    return counter ? is_ordered(counter->descending, counter->ascending, counter->writes)
                   : is_ordered(sketch->descending, sketch->ascending, sketch->writes);
}

/* ---- one function per pattern ---- */

/* The entity has won the vote by a third of the accesses, so it has at least two thirds of them. */
static bool is_single_key(const struct hot_subject *subject)
{
    const struct key_counter *counter = subject->counter;

    return counter && counter->top_votes * 3 >= accesses(counter);
}

/* Whether no other partition key with a time is later than this one. */
static bool is_newest(const struct hot_subject *subject)
{
    struct str own = sampled_text_str(&subject->counter->partition);

    for (size_t i = 0; i < subject->sketch->count; i++) {
        struct str other = sampled_text_str(&subject->sketch->keys[i].partition);

        if (time_key_looks_like(other) && str_compare(other, own) > 0)
            return false;
    }
    return true;
}

static bool is_time_bucket(const struct hot_subject *subject)
{
    const struct key_counter *counter = subject->counter;
    const struct key_sketch *sketch = subject->sketch;

    if (!counter)
        return time_key_looks_like(sampled_text_str(&sketch->last_partition)) && rises(subject);
    return time_key_looks_like(sampled_text_str(&counter->partition)) &&
           is_share(counter->writes, sketch->writes, 50) && is_newest(subject);
}

static bool is_log_data(const struct hot_subject *subject)
{
    const struct key_counter *counter = subject->counter;

    return counter && is_share(counter->timed, counter->writes, 75) && (rises(subject) || falls(subject)) &&
           counter->reads * LOG_WRITES_PER_READ <= counter->writes;
}

static bool has_few_values(const struct hot_subject *subject)
{
    const struct key_sketch *sketch = subject->sketch;

    return subject->counter && sketch->replaced == 0 && sketch->count <= MAX_FEW_PARTITIONS;
}

/* ---- the table ---- */

static const struct rule {
    enum hot_pattern pattern;
    bool (*holds)(const struct hot_subject *subject);
} rules[] = {
    { HOT_SINGLE_KEY, is_single_key },
    { HOT_TIME_BUCKET, is_time_bucket },
    { HOT_LOG_DATA, is_log_data },
    { HOT_APPEND, rises },
    { HOT_PREPEND, falls },
    { HOT_LOW_CARDINALITY, has_few_values },
};

static bool is_evident(const struct hot_subject *subject)
{
    const struct key_sketch *sketch = subject->sketch;
    const struct key_counter *counter = subject->counter;

    if (!counter)
        return sketch->samples >= MIN_SAMPLES;
    return counter->samples >= MIN_SAMPLES &&
           is_share(accesses(counter), sketch->reads + sketch->writes, HOT_SHARE_PERCENT);
}

enum hot_pattern hot_pattern_of(const struct hot_subject *subject)
{
    if (!is_evident(subject))
        return HOT_NONE;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (rules[i].holds(subject))
            return rules[i].pattern;
    return HOT_NONE;
}

/* ---- words ---- */

static const struct words {
    const char *name, *remedy, *index_remedy;
    const char *before, *behind; /* the key around the placeholder, in the example */
} words[] = {
    [HOT_NONE] = { "NONE", "", "", "", "" },
    [HOT_APPEND] = { "APPEND",
        "Do not let writes follow each other in the order of the keys: put a number from 00 to 15, made "
        "of the row key, into the partition key.",
        "Do not index a value that grows with each write by itself: begin the partition key of the index "
        "with a property "
        "that spreads.",
        "", "_07" },
    [HOT_PREPEND] = { "PREPEND",
        "Keep the newest-first order within more partitions: put a number from 00 to 15, made of the row "
        "key, into the partition key, and merge "
        "the newest of each when reading.",
        "Begin the partition key of the index with a property that spreads, and keep `inverted` for the row "
        "key.",
        "", "_07" },
    [HOT_TIME_BUCKET] = { "TIME_BUCKET",
        "Do not collect all writers in the partition of the current time: begin the partition key with what "
        "distinguishes "
        "the writers, or with a hash of the row key, and read as many partitions per time.",
        "Do not index a time alone: begin the partition key of the index with a property that spreads, and "
        "put the time "
        "behind it.",
        "07_", "" },
    [HOT_SINGLE_KEY] = { "SINGLE_KEY",
        "Divide the entity into several in partitions of their own, write one of them at random, and add "
        "them up when "
        "reading; if it is mostly read, let callers keep it for a while.",
        "One entity is indexed over and over: leave the property that changes out of the index's keys and "
        "projection.",
        "", "_07" },
    [HOT_LOW_CARDINALITY] = { "LOW_CARDINALITY",
        "A property with few values divides the table into few partitions: add a property with many values "
        "to the "
        "partition key.",
        "A property with few values divides the index into few partitions: add a property with many values "
        "to its "
        "partition_key, or a filter for the value that is looked for.",
        "", "_07" },
    [HOT_LOG_DATA] = { "LOG_DATA",
        "Logs are written in order and seldom read: collect them in larger pieces, in files or one entity "
        "per minute and "
        "source, and let the partition key begin with the source.",
        "An index on the time of a log is written for each line: index what is looked for.", "", "_07" },
};

_Static_assert(ARRAY_LEN(words) == HOT_PATTERNS, "a row for every pattern");

const char *hot_pattern_name(enum hot_pattern pattern)
{
    return words[pattern].name;
}

const char *hot_pattern_remedy(enum hot_pattern pattern, bool is_index)
{
    return is_index ? words[pattern].index_remedy : words[pattern].remedy;
}

struct str hot_pattern_example(
    enum hot_pattern pattern, const struct hot_subject *subject, struct arena *arena)
{
    const struct sampled_text *key =
        subject->counter ? &subject->counter->partition : &subject->sketch->last_partition;

    if (pattern == HOT_NONE)
        return STR_EMPTY;
    return arena_format(
        arena, "%s%.*s%s", words[pattern].before, STR_ARG(sampled_text_str(key)), words[pattern].behind);
}

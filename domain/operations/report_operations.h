/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_operations.h - operations that verify and repair an index, and their reports.
 */
#ifndef DOMAIN_OPERATIONS_REPORT_OPERATIONS_H
#define DOMAIN_OPERATIONS_REPORT_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "domain/keys/entity_key.h"
#include "domain/operations/job_operations.h"

/* Stored in reports: a number never gets another meaning. */
enum difference_class {
    DIFFERENCE_UNKNOWN = 0,    /* not looked at yet */
    DIFFERENCE_MISSING = 1,    /* the source asks for an entry that is not there */
    DIFFERENCE_DANGLING = 2,   /* an entry is there that no source asks for */
    DIFFERENCE_MISMATCHED = 3, /* the entry is there with other content */
    DIFFERENCE_MANIFEST = 4,   /* the entries are right, but the manifest does not say so */
    DIFFERENCE_END,
};

/* Which source keys are looked at: those of [from, below). Both ends are absent: all of them. */
struct source_range {
    bool has_from, has_below;
    struct entity_key from, below;
};

struct operation_verify {
    bool repairs;
    bool dry_run; /* of a repair: nothing is changed */
    bool is_fast; /* versions are compared, and contents only where these say nothing */
    struct source_range range;
    struct str values;       /* entries with these alone, in the form of verify_scope.h; empty: all */
    struct entity_key *keys; /* these alone; the range is absent then */
    size_t key_count;
    struct str report_id; /* of a repair: the differences of this report alone; empty: none */
};

/* What became of a difference. Stored: a number never gets another meaning. */
enum difference_state {
    DIFFERENCE_PENDING = 0,   /* it is to be looked at */
    DIFFERENCE_FOUND = 1,     /* it is there; nothing was done about it */
    DIFFERENCE_MENDED = 2,    /* it was mended, and is right when looked at again */
    DIFFERENCE_REMAINS = 3,   /* it was mended, and is there again when looked at */
    DIFFERENCE_GONE = 4,      /* it was no longer there when it came to be mended, or never was */
    DIFFERENCE_IN_FLIGHT = 5, /* work for its source is open: nothing was done about it */
};

struct report_counts {
    int64_t sources, entries; /* looked at */
    int64_t in_flight;        /* sources that were not judged */
    int64_t found[DIFFERENCE_END];
    int64_t mended, remaining;
};

struct report_view {
    struct str operation_id;
    struct str index; /* its name */
    bool repairs, dry_run, is_fast;
    bool is_whole; /* no keys, no range, no values, no report were named */
    enum job_state state;
    int64_t started, ended; /* ticks; ended 0: not yet */
    struct report_counts counts;
};

struct report_difference {
    int64_t number; /* in the report, from 1 */
    enum difference_class class;
    enum difference_state state;
    bool has_source;
    struct entity_key source; /* has_source; an entry that names none has none */
    struct entity_key entry;
    int64_t source_version; /* 0: it does not live */
    int64_t found_version;  /* 0: there is no entry */
    uint64_t found_digest;  /* 0: there is no entry */
    uint64_t wanted_digest; /* 0: no entry is wanted */
};

struct outcome_report {
    struct report_view report;
    struct report_difference *differences; /* a page */
    size_t count;
    bool more;
    struct str position;
};

#endif

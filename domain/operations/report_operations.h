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
    DIFFERENCE_UNKNOWN = 0,    /* not checked yet */
    DIFFERENCE_MISSING = 1,    /* the source asks for an entry that does not exist */
    DIFFERENCE_DANGLING = 2,   /* an entry exists that no source asks for */
    DIFFERENCE_MISMATCHED = 3, /* the entry exists with other content */
    DIFFERENCE_MANIFEST = 4,   /* the entries are right, but the manifest does not name them */
    /* of a copy rule: the dependent's property is missing, has another value, or should not be there */
    DIFFERENCE_COPY_MISSING = 5,
    DIFFERENCE_COPY_WRONG = 6,
    DIFFERENCE_COPY_SUPERFLUOUS = 7,
    DIFFERENCE_END,
};

/* Which source keys are verified: those of [from, below); without both ends, all. */
struct source_range {
    bool has_from, has_below;
    struct entity_key from, below;
};

struct operation_verify {
    bool repairs;
    bool dry_run; /* of a repair: changes nothing */
    bool is_fast; /* compare versions, and contents only if the versions differ */
    struct source_range range;
    /* only entries with these values, in the form of verify_scope.h; empty: all */
    struct str values;
    struct entity_key *keys; /* only these keys; the range is absent then */
    size_t key_count;
    struct str report_id; /* of a repair: only the differences of this report; empty: none */
};

/* The state of a difference. Stored: a number never gets another meaning. */
enum difference_state {
    DIFFERENCE_PENDING = 0, /* it is to be checked */
    DIFFERENCE_FOUND = 1,   /* it exists and was not repaired */
    /* it was repaired, and the check after the repair has found no difference */
    DIFFERENCE_MENDED = 2,
    DIFFERENCE_REMAINS = 3, /* it was repaired, and the check after the repair has found it again */
    /* before it could be repaired, a check has found no difference */
    DIFFERENCE_GONE = 4,
    DIFFERENCE_IN_FLIGHT = 5, /* its source has open work, so it was not repaired */
};

struct report_counts {
    int64_t sources, entries; /* verified */
    int64_t in_flight;        /* sources that were not judged */
    int64_t found[DIFFERENCE_END];
    int64_t copies; /* the sum of the classes of copies */
    int64_t mended, remaining;
};

struct report_view {
    struct str operation_id;
    struct str index; /* its name */
    bool repairs, dry_run, is_fast;
    bool is_whole; /* no keys, range, values or report were given */
    enum job_state state;
    int64_t started, ended; /* ticks; ended 0: not yet */
    struct report_counts counts;
};

struct report_difference {
    int64_t number; /* in the report, from 1 */
    enum difference_class class;
    enum difference_state state;
    bool has_source;
    struct entity_key source; /* has_source; an entry that names no source has none */
    struct entity_key entry;
    int64_t source_version; /* 0: the source is not live */
    int64_t found_version;  /* 0: there is no entry */
    uint64_t found_digest;  /* 0: there is no entry */
    uint64_t wanted_digest; /* 0: the source asks for no entry */
    struct str
        property; /* of a copy: the dependent's property, `source` being the dependent; otherwise empty */
};

struct outcome_report {
    struct report_view report;
    struct report_difference *differences; /* one page */
    size_t count;
    bool more;
    struct str position;
};

#endif

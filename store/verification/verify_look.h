/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_look.h - reading what one snapshot knows about source keys and entries of one index, and judging it.
 */
#ifndef STORE_VERIFICATION_VERIFY_LOOK_H
#define STORE_VERIFICATION_VERIFY_LOOK_H

#include "domain/indexes/verify_plan.h"
#include "domain/operations/report_operations.h"
#include "store/entities/owner_rows.h"
#include "store/session/session.h"

enum { LOOK_STORED = 2 }; /* at the wanted key, and at the entry's own */

/* A source key, or an entry, that is looked at. */
struct subject {
    bool has_source, has_entry;
    struct entity_key source; /* has_source; without it the entry names none */
    struct entity_key entry;  /* has_entry */
    /* what is found */
    struct owner_question question; /* of a unique index: whether the source owns its value */
    bool has_wanted;
    struct index_entry wanted; /* its key and its digest; the properties are not kept */
    int64_t source_version;    /* 0: it does not live */
    struct verify_stored stored[LOOK_STORED];
    struct verify_case facts;
    struct difference differences[LOOK_STORED + 1];
    size_t difference_count;
};

/* Subjects of one index, at most LOOK_SUBJECTS; memory is the session's. */
enum { LOOK_SUBJECTS = 500 };
struct look {
    const struct index *index;
    struct subject *subjects;
    size_t count;
};

/*
 * Each of these judges subjects in the snapshot that is open; has_source, has_entry and their keys are set.
 *
 * subjects   by all that is wrong with them
 * entries    by their own entries alone: whether their sources ask for them
 * manifests  sources that do not live: whether their manifests name entries that are not there; others are no subjects
 */
MUST_USE enum status look_at_subjects(struct session *session, struct look *look, struct error *err);
MUST_USE enum status look_at_entries(struct session *session, struct look *look, struct error *err);
MUST_USE enum status look_at_manifests(struct session *session, struct look *look, struct error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_look.h - reads what one snapshot shows about source keys and entries of one index, and
 * judges it.
 */
#ifndef STORE_VERIFICATION_VERIFY_LOOK_H
#define STORE_VERIFICATION_VERIFY_LOOK_H

#include "domain/indexes/verify_plan.h"
#include "domain/operations/report_operations.h"
#include "store/entities/owner_rows.h"

struct session;

/* stored entries of a subject: at the wanted key, and at the subject's own entry key */
enum { LOOK_STORED = 2 };

/* A source key or an entry that is checked. */
struct subject {
    bool has_source, has_entry;
    struct entity_key source; /* valid if has_source; otherwise the entry names no source */
    struct entity_key entry;  /* valid if has_entry */
    /* The members below are results. */
    struct owner_question question; /* for a unique index: whether the source owns its value */
    bool has_wanted;
    struct index_entry wanted; /* its key and its digest; the properties are not kept */
    int64_t source_version;    /* 0: the source is not live */
    struct verify_stored stored[LOOK_STORED];
    struct verify_case facts;
    struct difference differences[LOOK_STORED + 1];
    size_t difference_count;
};

/* Subjects of one index, at most LOOK_SUBJECTS. Memory is in the session's arena. */
enum { LOOK_SUBJECTS = 500 };
struct look {
    const struct index *index;
    struct subject *subjects;
    size_t count;
};

/*
 * Each of these functions judges subjects in the open snapshot. The caller sets has_source,
 * has_entry and their keys.
 *
 * subjects   finds all differences of each subject
 * entries    judges each entry alone: whether its source asks for it
 * manifests  judges sources that are not live: whether their manifests name entries that do not
 * exist; drops all others
 */
MUST_USE enum status look_at_subjects(struct session *session, struct look *look, struct error *err);
MUST_USE enum status look_at_entries(struct session *session, struct look *look, struct error *err);
MUST_USE enum status look_at_manifests(struct session *session, struct look *look, struct error *err);

#endif

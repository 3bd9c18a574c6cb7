/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_scan.h - walking over sources and entries of an index in key order, a chunk in one snapshot at a time: first
 * to sum up what sources ask for and what is stored (verify_sums.h), then to list the suspects.
 */
#ifndef STORE_VERIFICATION_VERIFY_SCAN_H
#define STORE_VERIFICATION_VERIFY_SCAN_H

#include "domain/indexes/verify_scope.h"
#include "domain/indexes/verify_sums.h"
#include "store/jobs/turn.h"
#include "store/verification/verify_look.h"

struct verify_scan {
    const struct index *index;
    bool is_fast;   /* versions instead of contents are compared: see verify_scan_sum_sources */
    int max_rows;   /* of a chunk */
    bool has_large; /* before: there may be large rows; then: there are */
    bool is_behind; /* strictly behind the key */
    struct entity_key key;
    const struct source_range *range; /* of the sources */
    const struct verify_scope *scope; /* of the entries */
    struct verify_sums *sums;         /* added to while summing up; asked while judging */
    struct turn *turn;   /* gets once the end of a sum's chunk, and is NULL from then on; NULL: no turn */
    struct arena *arena; /* of `last`; what else is found is in the session's */
    /* what is found */
    struct entity_key last; /* how far the chunk reaches */
    bool is_last;           /* there is nothing behind it */
    int64_t rows;           /* of the table that is walked over, within the range */
    int64_t in_flight;      /* sources with open work, which have no part in the sums */
    struct look look;       /* the suspects, judged */
};

/*
 * What live sources ask for, added to the sums. In full it is computed from their properties, and their manifests must
 * say so; fast, it is what the manifest says, if it was made from the version that the source has. Where that does not
 * hold the source is judged at once: if all is right what is stored is added, otherwise it is marked as a suspect. An
 * index without manifests has its sources' properties read in either case.
 */
MUST_USE enum status verify_scan_sum_sources(
    struct session *session, struct verify_scan *scan, struct error *err);

/* The entries that are stored, subtracted: by the digest of their content in full, fast by their version. */
MUST_USE enum status verify_scan_sum_entries(
    struct session *session, struct verify_scan *scan, struct error *err);

/* Suspects by the sums: live sources, entries, and sources that have a manifest and do not live. */
MUST_USE enum status verify_scan_judge_sources(
    struct session *session, struct verify_scan *scan, struct error *err);
MUST_USE enum status verify_scan_judge_entries(
    struct session *session, struct verify_scan *scan, struct error *err);
MUST_USE enum status verify_scan_judge_manifests(
    struct session *session, struct verify_scan *scan, struct error *err);

#endif

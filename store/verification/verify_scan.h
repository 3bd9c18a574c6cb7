/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_scan.h - walks over the sources and entries of an index in key order, one chunk in one
 * snapshot: first to sum up what sources ask for and what is stored (verify_sums.h), then to list
 * the suspects.
 */
#ifndef STORE_VERIFICATION_VERIFY_SCAN_H
#define STORE_VERIFICATION_VERIFY_SCAN_H

#include "domain/indexes/verify_scope.h"
#include "domain/indexes/verify_sums.h"
#include "store/jobs/turn.h"
#include "store/verification/verify_look.h"

struct verify_scan {
    const struct index *index;
    bool is_fast;   /* versions are compared instead of contents: see verify_scan_sum_sources */
    int max_rows;   /* of a chunk */
    bool has_large; /* before the chunk: there may be large rows; after it: there are some */
    bool is_behind; /* the chunk begins strictly behind the key */
    struct entity_key key;
    const struct source_range *range; /* the range of sources */
    const struct verify_scope *scope; /* the scope of entries */
    struct verify_sums *sums;         /* summing up adds to them; judging reads them */
    /*
     * receives the end of the chunk of a sum once, and is NULL afterwards; NULL: there is no turn
     */
    struct turn *turn;
    struct arena *arena; /* of `last`; the other results are in the session's arena */
    /* The members below are results. */
    struct entity_key last; /* the last key of the chunk */
    bool is_last;           /* nothing follows the chunk */
    int64_t rows;           /* number of rows of the walked table, within the range */
    int64_t in_flight;      /* sources with open work, which are not in the sums */
    struct look look;       /* the suspects, judged */
};

/*
 * Add what live sources ask for to the sums. A full verification computes it from the sources'
 * properties, and their manifests must agree. A fast one takes it from the manifests, which must
 * have been made from the sources' present versions. A source for which this does not hold is
 * judged at once: if all is right, its stored entries are added, otherwise its key is marked as a
 * suspect. For an index without manifests, the sources' properties are read in both cases.
 */
MUST_USE enum status verify_scan_sum_sources(
    struct session *session, struct verify_scan *scan, struct error *err);

/*
 * Subtract the stored entries from the sums: a full verification by the digest of their content, a
 * fast one by their version.
 */
MUST_USE enum status verify_scan_sum_entries(
    struct session *session, struct verify_scan *scan, struct error *err);

/*
 * List and judge the suspects: live sources, entries, and sources that have a manifest and are not
 * live.
 */
MUST_USE enum status verify_scan_judge_sources(
    struct session *session, struct verify_scan *scan, struct error *err);
MUST_USE enum status verify_scan_judge_entries(
    struct session *session, struct verify_scan *scan, struct error *err);
MUST_USE enum status verify_scan_judge_manifests(
    struct session *session, struct verify_scan *scan, struct error *err);

#endif

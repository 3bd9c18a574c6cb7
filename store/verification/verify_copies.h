/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_copies.h - compares dependents of a copy rule with their sources, in one snapshot.
 *
 * In a snapshot the copies of a dependent are right unless there is work for the dependent or for
 * its source (guards G69, G71). So what differs without such work is a difference, and a write is
 * never one. A dependent with a dead letter counts as one with work.
 */
#ifndef STORE_VERIFICATION_VERIFY_COPIES_H
#define STORE_VERIFICATION_VERIFY_COPIES_H

#include "domain/copies/copy_plan.h"
#include "domain/operations/report_operations.h"

struct session;

/* A dependent whose copies differ. */
struct copy_suspect {
    struct entity_key key;
    int64_t version;
    enum copy_naming naming;
    struct entity_key source; /* COPY_NAMES_KEY */
    bool in_flight;           /* work is open, so it is not judged */
    struct copy_difference *differences;
    size_t count;
};

/* Memory of results is in the session's arena. */
struct copy_look {
    const struct index *index;
    /* these dependents; NULL: a chunk in the order of keys, from `key` on */
    const struct entity_key *keys;
    size_t key_count;
    bool is_behind; /* the chunk begins strictly behind the key */
    struct entity_key key;
    const struct source_range *range; /* of the chunk */
    /* The members below are results. */
    struct entity_key last; /* of the chunk */
    bool is_last;           /* nothing follows the chunk */
    int64_t rows;           /* dependents that were compared */
    struct copy_suspect *suspects;
    size_t count;
};

/* Compare in the open snapshot. */
MUST_USE enum status verify_copies_look(struct session *session, struct copy_look *look, struct error *err);

/* The class of a difference in reports. */
enum difference_class verify_copies_class(enum copy_fault fault);
bool verify_copies_is_class(enum difference_class class);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_letter_operations.h - operations on dead letters.
 */
#ifndef DOMAIN_OPERATIONS_DEAD_LETTER_OPERATIONS_H
#define DOMAIN_OPERATIONS_DEAD_LETTER_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "domain/entities/entity.h"

enum dead_letter_state { DEAD_LETTER_DEAD = 1, DEAD_LETTER_RETRYING = 2, DEAD_LETTER_DISCARDED = 3 };

/* A filter of dead letters: everything that is set must match. */
struct dead_letter_filter {
    enum dead_letter_state state;
    int16_t kind;       /* enum intent_kind; 0: any */
    struct str account; /* this and the next two: empty: any */
    struct str table;   /* a name */
    struct str cause;   /* the beginning of its cause */
    int64_t *ids;
    size_t id_count; /* 0: any */
    int32_t queue;   /* below 0: any */
    int32_t queues;  /* the number of queues; see queue_control_queue_of */
};

struct dead_letter_view {
    int64_t id;
    int16_t kind, bucket;
    int64_t table_id;
    /* index is empty if the dead letter is about the key as a whole */
    struct str account, table, index;
    struct entity_key key; /* of a transaction: account and id */
    int32_t failures;
    struct str cause, history, note;
    int64_t first_failed, last_failed; /* ticks */
};

struct cause_view {
    struct str cause;
    int64_t count, example;
    int64_t first_failed, last_failed; /* ticks */
};

enum { MAX_COUNTED_DEPENDENTS = 10000 };

/* What a redrive would change. */
struct dead_letter_difference {
    int64_t missing, dangling, mismatched; /* entries */
    int64_t violations;                    /* entries or copies that there could not be */
    int64_t steps;                         /* of transactions */
    int64_t copies;                        /* dependents whose copies would be changed */
    int64_t dependents; /* that a visit has still to look at, up to MAX_COUNTED_DEPENDENTS */
};

struct operation_dead_letters {
    struct dead_letter_filter filter;
    int32_t limit;
    int64_t after;
    bool by_cause;     /* list */
    bool dry_run;      /* redrive */
    struct str reason; /* discard */
};

struct outcome_dead_letters {
    /* list: the page; redrive and discard: the dead letters that were changed */
    struct dead_letter_view *dead_letters;
    size_t count;
    struct dead_letter_difference *differences; /* redrive as a dry run: as many as dead letters */
    struct cause_view *causes;                  /* list by cause */
    size_t cause_count;
    bool more;
    int64_t position;
};

#endif

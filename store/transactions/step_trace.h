/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_trace.h - the span of a step of a transaction that a traced call has submitted. The store
 * makes it, because the intents of the step's writes name it as their parent and commit with it.
 */
#ifndef STORE_TRANSACTIONS_STEP_TRACE_H
#define STORE_TRANSACTIONS_STEP_TRACE_H

#include "base/arena.h"
#include "domain/tracing/span.h"

struct step_trace {
    /* filled by the caller: */
    struct arena *arena; /* of the span's texts */
    uint64_t random;     /* bits of the span's id */
    /* filled by transaction_work_step: */
    bool is_traced;                  /* a step was carried out whose transaction has a trace; only then: */
    bool is_first;                   /* it is the first attempt of the first step */
    struct trace_context submission; /* the call that submitted */
    int64_t intent_us;               /* when it committed, by the database's clock */
    struct span span;                /* child of the call; without its times */
};

#endif

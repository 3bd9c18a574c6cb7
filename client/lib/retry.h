/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry.h - which calls are repeated, and when: docs/callers.md. Pure but for the budget.
 */
#ifndef CLIENT_LIB_RETRY_H
#define CLIENT_LIB_RETRY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/str.h"
#include "client/lib/tavola.h"

/* Whether a call of the method is harmless to repeat without a request id: the methods of api/service_config.json. */
bool retry_is_harmless(struct str path);

/*
 * How long to wait before the next attempt of a call that may be repeated.
 *
 * attempt  the number of attempts so far, at least 1
 * random   64 random bits
 *
 * -1: do not repeat: the error does not pass by itself.
 */
int64_t retry_delay_ms(const struct tavola_error *error, int attempt, uint64_t random);

/*
 * Of a client: while most calls fail, none is repeated, so that a client does not keep an overload alive. Zeroed by
 * retry_budget_init only. Any thread.
 */
struct retry_budget {
    atomic_int tenths;
};

void retry_budget_init(struct retry_budget *budget);
void retry_budget_note_success(struct retry_budget *budget);

/* A call has failed in a way that passes. false: do not repeat it. */
bool retry_budget_spend(struct retry_budget *budget);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry.h - decides which calls are repeated, and when: docs/callers.md. Pure, except for the budget.
 */
#ifndef CLIENT_LIB_RETRY_H
#define CLIENT_LIB_RETRY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/str.h"
#include "client/lib/tavola.h"

/*
 * Whether a call of this method may be repeated without a request id: api/service_config.json lists these
 * methods.
 */
bool retry_is_harmless(struct str path);

/*
 * The time to wait before the next attempt of a call that may be repeated; -1: do not repeat, because the
 * error will not pass.
 *
 * attempt  the number of attempts so far, at least 1
 * random   64 random bits
 */
int64_t retry_delay_ms(const struct tavola_error *error, int attempt, uint64_t random);

/*
 * The retry budget of a client: while most calls fail, none is repeated, so that clients do not keep an
 * overload alive. Any thread may use it. Initialize it with retry_budget_init.
 */
struct retry_budget {
    atomic_int tenths;
};

void retry_budget_init(struct retry_budget *budget);
void retry_budget_note_success(struct retry_budget *budget);

/* Take a permit for repeating a call whose error may pass. false: do not repeat it. */
bool retry_budget_spend(struct retry_budget *budget);

#endif

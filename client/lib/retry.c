/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry.c - see the header. The pauses and the budget are those of api/service_config.json.
 */
#include "client/lib/retry.h"

#include "base/macros.h"
#include "client/harmless_methods.h"

enum {
    FIRST_DELAY_MS = 100,
    MAX_DELAY_MS = 2000,
    BUDGET_TENTHS = 1000, /* the budget: 100 failures */
    FAILURE_TENTHS = 10,
    SUCCESS_TENTHS = 1,
};

bool retry_is_harmless(struct str path)
{
    for (size_t i = 0; i < ARRAY_LEN(harmless_methods); i++)
        if (str_equal(path, str_of(harmless_methods[i])))
            return true;
    return false;
}

/* Make half of the delay random, so that callers that failed together come back at different times. */
static int64_t with_jitter(int64_t delay_ms, uint64_t random)
{
    return delay_ms / 2 + (int64_t)(random % (uint64_t)(delay_ms / 2 + 1));
}

int64_t retry_delay_ms(const struct tavola_error *error, int attempt, uint64_t random)
{
    int64_t delay_ms = FIRST_DELAY_MS;

    if (error->code != TAVOLA_UNAVAILABLE && error->retry_after_ms < 0)
        return -1;
    for (int i = 1; i < attempt && delay_ms < MAX_DELAY_MS; i++)
        delay_ms *= 2;
    if (delay_ms > MAX_DELAY_MS)
        delay_ms = MAX_DELAY_MS;
    delay_ms = with_jitter(delay_ms, random);
    /*
     * After overload, wait as long as the service asks. Another server is available at once if this one is
     * draining.
     */
    if (error->code != TAVOLA_UNAVAILABLE)
        delay_ms += error->retry_after_ms;
    return delay_ms;
}

void retry_budget_init(struct retry_budget *budget)
{
    atomic_init(&budget->tenths, BUDGET_TENTHS);
}

void retry_budget_note_success(struct retry_budget *budget)
{
    int tenths = atomic_load_explicit(&budget->tenths, memory_order_relaxed);

    if (tenths < BUDGET_TENTHS)
        atomic_compare_exchange_strong(&budget->tenths, &tenths, tenths + SUCCESS_TENTHS);
}

bool retry_budget_spend(struct retry_budget *budget)
{
    int tenths = atomic_load(&budget->tenths), left;

    do
        left = tenths > FAILURE_TENTHS ? tenths - FAILURE_TENTHS : 0;
    while (!atomic_compare_exchange_weak(&budget->tenths, &tenths, left));
    return left > BUDGET_TENTHS / 2;
}

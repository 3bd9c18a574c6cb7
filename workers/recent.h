/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recent.h - which intents the relay has published within the last seconds, so that work under way is not
 * published over and over. A table of fixed size: what falls out of it is published once more, no harm.
 */
#ifndef WORKERS_RECENT_H
#define WORKERS_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#include "domain/intents/intent.h"

enum { RECENT_SLOTS = 8192 };

struct recent {
    struct recent_slot {
        uint64_t hash;
        int64_t until_us;
    } slots[RECENT_SLOTS];
};

/* Whether it was noted and its time is not over. */
bool recent_has(const struct recent *recent, const struct intent *intent, int64_t now_us);
void recent_note(struct recent *recent, const struct intent *intent, int64_t now_us);
void recent_forget(struct recent *recent);

#endif

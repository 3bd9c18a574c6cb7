/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recent.h - the intents that the relay has published within the last seconds, so that it does not
 * publish work under way again and again. The table has a fixed size: an intent that is overwritten
 * is published once more, without harm.
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

/* Whether the intent was noted less than three seconds ago. */
bool recent_has(const struct recent *recent, const struct intent *intent, int64_t now_us);
void recent_note(struct recent *recent, const struct intent *intent, int64_t now_us);
void recent_forget(struct recent *recent);

#endif

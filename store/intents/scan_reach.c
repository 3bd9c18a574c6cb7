/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_reach.c - see the header.
 */
#include "store/intents/scan_reach.h"

enum { MIN_SHARE = 64, PARTS = 8 };

void scan_reach_forget(struct scan_reach *reach)
{
    *reach = (struct scan_reach){ 0 };
}

size_t scan_reach_share(const struct scan_reach *reach, bool rest_only, size_t max)
{
    size_t parts = rest_only && reach->open > 0 ? (size_t)reach->open : PARTS;

    return max / parts > MIN_SHARE ? max / parts : MIN_SHARE;
}

void scan_reach_note(struct scan_reach *reach, const struct scan_answer *answer)
{
    size_t counts[RANGE_SLOTS] = { 0 };
    bool was_cut = answer->count >= answer->max;

    for (size_t i = 0; i < answer->count; i++) {
        const struct intent *intent = &answer->intents[i];
        int slot = scan_reach_slot(intent->bucket, answer->by_kind ? intent->kind : 0);

        counts[slot]++;
        reach->after[slot] = intent->id;
    }
    reach->open = 0;
    for (int slot = 0; slot < RANGE_SLOTS; slot++) {
        if (counts[slot] < answer->share && !was_cut)
            reach->after[slot] = (struct intent_id){ 0 };
        reach->open += !intent_id_is_none(reach->after[slot]);
    }
}

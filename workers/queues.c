/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues.c - see the header.
 */
#include "workers/queues.h"
#include "store/intents/lease_work.h"
#include "store/intents/queue_work.h"

#include <string.h>

void queues_init(struct queues *queues)
{
    *queues = (struct queues){ .count = DEFAULT_QUEUES };
    for (int slot = 0; slot < QUEUE_SLOTS; slot++)
        atomic_init(&queues->intents_before_us[slot], INT64_MAX);
    pthread_mutex_init(&queues->mutex, NULL);
}

void queues_cleanup(struct queues *queues)
{
    pthread_mutex_destroy(&queues->mutex);
}

/* ---- controls ---- */

bool queues_set_count(struct queues *queues, int count)
{
    return atomic_exchange(&queues->count, count) != count;
}

bool queues_set_controls(struct queues *queues, const struct queue_control controls[QUEUE_SLOTS], bool any)
{
    bool changed = false;

    for (int slot = 0; slot < QUEUE_SLOTS; slot++) {
        long long until_us = controls[slot].intents_before_us, rate = controls[slot].rate;

        if (atomic_exchange(&queues->intents_before_us[slot], until_us) != until_us)
            changed = true;
        if (atomic_exchange(&queues->rates[slot], rate) != rate)
            changed = true;
    }
    atomic_store(&queues->controlled, any);
    return changed;
}

/* A drain ignores the rate limit. */
static bool is_limited(const struct queues *queues, int slot)
{
    return atomic_load(&queues->rates[slot]) > 0 &&
           atomic_load(&queues->intents_before_us[slot]) == INT64_MAX;
}

bool queues_allow(const struct queues *queues, const struct intent *intent)
{
    int slot;

    if (!atomic_load(&queues->controlled))
        return true;
    slot = queue_slot(queue_control_queue_of(intent->bucket, atomic_load(&queues->count)), intent->kind);
    return slot < 0 || (!is_limited(queues, slot) &&
                           intent_id_us(intent->id) < atomic_load(&queues->intents_before_us[slot]));
}

const struct scan_scope *queues_free_scope(const struct queues *queues, struct scan_scope *out)
{
    if (!atomic_load(&queues->controlled))
        return NULL;
    out->queues = atomic_load(&queues->count);
    for (int slot = 0; slot < QUEUE_SLOTS; slot++)
        out->until_us[slot] =
            is_limited(queues, slot) ? 0 : (int64_t)atomic_load(&queues->intents_before_us[slot]);
    return out;
}

int queues_next_limited(const struct queues *queues, int slot)
{
    int slots;

    if (!atomic_load(&queues->controlled))
        return QUEUE_SLOTS;
    slots = atomic_load(&queues->count) * WORK_KINDS;
    while (slot < slots && !is_limited(queues, slot))
        slot++;
    return slot < slots ? slot : QUEUE_SLOTS;
}

/* ---- applied intents ---- */

void queues_count_applied(struct queues *queues, const struct intent *intent, size_t count)
{
    int queue = queue_control_queue_of(intent->bucket, atomic_load(&queues->count)),
        slot = queue_slot(queue, intent->kind);
    size_t i;

    if (slot < 0)
        return;
    atomic_fetch_add(&queues->applied_total[slot], (long long)count);
    pthread_mutex_lock(&queues->mutex);
    for (i = 0; i < queues->applied_count; i++)
        if (queues->applied[i].table_id == intent->table_id && queues->applied[i].queue == queue &&
            queues->applied[i].kind == intent->kind)
            break;
    if (i == queues->applied_count && i < MAX_APPLIED)
        queues->applied[queues->applied_count++] =
            (struct applied){ .table_id = intent->table_id, .queue = (int16_t)queue, .kind = intent->kind };
    if (i < MAX_APPLIED) /* a queue without room here is missing from the rates for half a second */
        queues->applied[i].count += (int64_t)count;
    pthread_mutex_unlock(&queues->mutex);
}

size_t queues_take_applied(struct queues *queues, struct applied out[MAX_APPLIED])
{
    size_t count;

    pthread_mutex_lock(&queues->mutex);
    count = queues->applied_count;
    memcpy(out, queues->applied, count * sizeof(out[0]));
    queues->applied_count = 0;
    pthread_mutex_unlock(&queues->mutex);
    return count;
}

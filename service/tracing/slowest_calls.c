/* SPDX-License-Identifier: Apache-2.0 */
/* slowest_calls.c - see the header. */
#include "service/tracing/slowest_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "domain/account_id.h"

void slowest_calls_init(struct slowest_calls *calls)
{
    memset(calls, 0, sizeof(*calls));
    pthread_mutex_init(&calls->lock, NULL);
}

void slowest_calls_cleanup(struct slowest_calls *calls)
{
    pthread_mutex_destroy(&calls->lock);
}

static bool has_expired(const struct slowest_calls_group *group, int64_t now_us)
{
    return now_us - group->ended_us > SLOWEST_CALLS_KEPT_US;
}

/* Names are compared as far as they are kept. */
static bool is_name(const char *kept, struct str name)
{
    if (name.len > SLOWEST_CALLS_NAME_BYTES - 1)
        name.len = SLOWEST_CALLS_NAME_BYTES - 1;
    return str_equal(str_of(kept), name);
}

static void keep_name(char out[SLOWEST_CALLS_NAME_BYTES], struct str name)
{
    snprintf(out, SLOWEST_CALLS_NAME_BYTES, "%.*s", STR_ARG(name));
}

static struct slowest_calls_group *find_group(
    struct slowest_calls *calls, const struct call_end *end, const struct call_parts *parts)
{
    for (size_t i = 0; i < calls->count; i++) {
        struct slowest_calls_group *group = &calls->groups[i];

        if (group->path == end->path && group->access_path == parts->path &&
            is_name(group->table, parts->table) && is_name(group->account, account_id_name(end->account)))
            return group;
    }
    return NULL;
}

/* A slot for a new group; NULL: all others are slower. */
static struct slowest_calls_group *find_slot(struct slowest_calls *calls, int64_t duration_us, int64_t now_us)
{
    struct slowest_calls_group *quickest = NULL;

    if (calls->count < SLOWEST_CALLS_MAX)
        return &calls->groups[calls->count++];
    for (size_t i = 0; i < calls->count; i++) {
        struct slowest_calls_group *group = &calls->groups[i];

        if (has_expired(group, now_us))
            return group;
        if (!quickest || group->slowest_us < quickest->slowest_us)
            quickest = group;
    }
    return quickest->slowest_us < duration_us ? quickest : NULL;
}

static struct slowest_calls_group *make_group(
    struct slowest_calls *calls, const struct call_end *end, const struct call_parts *parts, int64_t now_us)
{
    struct slowest_calls_group *group = find_slot(calls, parts->duration_us, now_us);

    if (!group)
        return NULL;
    *group = (struct slowest_calls_group){ .path = end->path, .access_path = parts->path };
    keep_name(group->account, account_id_name(end->account));
    keep_name(group->table, parts->table);
    return group;
}

static void count_call(struct slowest_calls_group *group, const struct call_parts *parts, int64_t now_us)
{
    if (has_expired(group, now_us))
        group->calls = group->total_us = group->slowest_us = 0;
    group->calls++;
    group->total_us += parts->duration_us;
    if (parts->duration_us < group->slowest_us)
        return;
    group->slowest_us = parts->duration_us;
    group->queue_us = parts->queue_us;
    group->rows_examined = parts->rows_examined;
    group->ended_us = now_us;
    group->ended_ticks = clock_ticks();
}

void slowest_calls_note(
    struct slowest_calls *calls, const struct call_end *end, const struct call_parts *parts, int64_t now_us)
{
    struct slowest_calls_group *group;

    if (!slowest_calls_want(parts->duration_us) || pthread_mutex_trylock(&calls->lock) != 0)
        return;
    group = find_group(calls, end, parts);
    if (!group)
        group = make_group(calls, end, parts, now_us);
    if (group)
        count_call(group, parts, now_us);
    pthread_mutex_unlock(&calls->lock);
}

static int compare_groups(const void *a, const void *b)
{
    const struct slowest_calls_group *one = a, *other = b;

    return (one->slowest_us < other->slowest_us) - (one->slowest_us > other->slowest_us);
}

size_t slowest_calls_read(
    struct slowest_calls *calls, int64_t now_us, struct slowest_calls_group out[SLOWEST_CALLS_MAX])
{
    size_t count = 0;

    pthread_mutex_lock(&calls->lock);
    for (size_t i = 0; i < calls->count; i++)
        if (!has_expired(&calls->groups[i], now_us))
            out[count++] = calls->groups[i];
    pthread_mutex_unlock(&calls->lock);
    qsort(out, count, sizeof(out[0]), compare_groups);
    return count;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door_rules.c - see the header. The state of an allowance is one number: the time at which it will be whole
 * again (GCRA).
 */
#include "rpc/door_rules.h"

#include "rpc/server.h"

enum { US_PER_S = 1000000, KIB = 1024 };

const char *const door_rules_names[DOOR_REASONS] = { "none", "full", "address", "returned", "files", "header",
    "streams", "resets", "frames", "bytes", "calls", "silent", "room", "memory" };

/* per_second 0: not bounded. */
struct allowance {
    int64_t at_once, per_second;
    enum door_reason reason;
};

/*
 * While a connection is unauthenticated: as many streams at once as the server offers, because a caller may begin with
 * so many, each with a body of 8 KiB; 50 streams a second are more than probes open.
 * Once it is authenticated, only resets and other frames are bounded: callers reset streams whose deadline
 * has passed, and send pings.
 */
static const struct allowance allowances[2][ALLOWANCES] = {
    {
        [ALLOWANCE_STREAMS] = { RPC_STREAMS, 50, DOOR_STREAMS },
        [ALLOWANCE_RESETS] = { 128, 50, DOOR_RESETS },
        [ALLOWANCE_OTHERS] = { 256, 50, DOOR_FRAMES },
        [ALLOWANCE_SMALL] = { 2048, 500, DOOR_FRAMES },
        [ALLOWANCE_DATA_KIB] = { 8192, 512, DOOR_BYTES },
    },
    {
        [ALLOWANCE_RESETS] = { 4096, 1000, DOOR_RESETS },
        [ALLOWANCE_OTHERS] = { 8192, 2000, DOOR_FRAMES },
    },
};

static bool take_allowance(
    int64_t *whole_us, const struct allowance *allowance, uint64_t count, int64_t now_us)
{
    if (count == 0 || allowance->per_second == 0)
        return true;
    if (*whole_us < now_us)
        *whole_us = now_us;
    *whole_us += (int64_t)count * US_PER_S / allowance->per_second;
    return *whole_us - now_us <= allowance->at_once * US_PER_S / allowance->per_second;
}

enum door_reason door_rules_charge(
    struct door_used *used, struct frame_counts *counts, bool is_authenticated, int64_t now_us)
{
    const struct allowance *rules = allowances[is_authenticated];
    const uint64_t counted[ALLOWANCES] = { counts->streams, counts->resets, counts->others, counts->small,
        counts->data_bytes / KIB };
    enum door_reason reason = DOOR_NONE;

    for (int i = 0; i < ALLOWANCES && reason == DOOR_NONE; i++)
        if (!take_allowance(&used->whole_us[i], &rules[i], counted[i], now_us))
            reason = rules[i].reason;
    *counts = (struct frame_counts){ .data_bytes = counts->data_bytes % KIB };
    return reason;
}

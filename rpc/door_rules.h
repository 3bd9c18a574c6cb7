/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door_rules.h - what a connection may send, and how fast, before the server hangs up. Internal to rpc/.
 *
 * Each kind of frame has an allowance: a number at once, and a number per second. Until a call on the
 * connection has been authenticated, the allowances are small: enough for the first calls of a well-behaved
 * caller, and for probes at any time. Afterwards only frames that no caller needs in large numbers are
 * bounded. Pure: time is an argument.
 */
#ifndef RPC_DOOR_RULES_H
#define RPC_DOOR_RULES_H

#include "rpc/frame_scan.h"

/* Why a connection was refused or hung up on; in the order of door_rules_names. */
enum door_reason {
    DOOR_NONE,
    DOOR_FULL,     /* refused: the server has as many connections as it takes */
    DOOR_ADDRESS,  /* refused: the address has as many connections as one address may have */
    DOOR_RETURNED, /* refused: the server has just hung up on a connection from this address */
    DOOR_FILES,    /* refused: the process or the system has no descriptor left */
    DOOR_HEADER,   /* hung up: a header block, or a frame, that is too large */
    /* hung up: more new streams than allowed; the next three likewise: resets, other frames, bytes */
    DOOR_STREAMS,
    DOOR_RESETS,
    DOOR_FRAMES,
    DOOR_BYTES,
    DOOR_CALLS,  /* hung up: more calls open than an unauthenticated connection may have */
    DOOR_SILENT, /* hung up: no call was answered in time */
    DOOR_ROOM,   /* hung up: the oldest unauthenticated connection, to make room for a new one */
    DOOR_MEMORY, /* hung up: the process is close to its memory bound */
    DOOR_REASONS,
};

/* The reasons as words for logs and labels. */
extern const char *const door_rules_names[DOOR_REASONS];

enum door_allowance {
    ALLOWANCE_STREAMS,
    ALLOWANCE_RESETS,
    ALLOWANCE_OTHERS,
    ALLOWANCE_SMALL,
    ALLOWANCE_DATA_KIB,
    ALLOWANCES,
};

/* For each allowance: the clock_monotonic_us at which it is whole again. Zero: it is whole. */
struct door_used {
    int64_t whole_us[ALLOWANCES];
};

/*
 * Charge the counted frames to the allowances and set the counts to zero. DOOR_NONE: within all allowances.
 */
enum door_reason door_rules_charge(
    struct door_used *used, struct frame_counts *counts, bool is_authenticated, int64_t now_us);

/* Whether any counted frame has an allowance: on an authenticated connection mostly none has. */
static inline bool door_rules_apply(const struct frame_counts *counts, bool is_authenticated)
{
    return !is_authenticated || counts->resets > 0 || counts->others > 0;
}

#endif

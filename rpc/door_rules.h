/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door_rules.h - what a connection may send, and how fast, before the server hangs up. Internal to rpc/.
 *
 * Each kind of frame has an allowance: a number at once, and a number a second. Until a call on the connection has been
 * authenticated the allowances are small: they are what one well-behaved caller may need for its first calls, and what
 * probes need for good. After that only what no caller needs is bounded. Pure: time is an argument.
 */
#ifndef RPC_DOOR_RULES_H
#define RPC_DOOR_RULES_H

#include "rpc/frame_scan.h"

/* Why a connection was refused or hung up on; the order of door_rules_names. */
enum door_reason {
    DOOR_NONE,
    DOOR_FULL,     /* refused: as many connections as the server takes */
    DOOR_ADDRESS,  /* refused: as many from one address */
    DOOR_RETURNED, /* refused: the server has just hung up on this address */
    DOOR_FILES,    /* refused: the process or the system has no descriptor left */
    DOOR_HEADER,   /* hung up: a header block, or a frame, that is too large */
    DOOR_STREAMS,  /* hung up: more new streams than allowed, and so on */
    DOOR_RESETS,
    DOOR_FRAMES,
    DOOR_BYTES,
    DOOR_CALLS,  /* hung up: more calls open than an unauthenticated connection may have */
    DOOR_SILENT, /* hung up: no call was answered in time */
    DOOR_ROOM,   /* hung up: the oldest unauthenticated one has made room for a new one */
    DOOR_MEMORY, /* hung up: the process comes near its memory bound */
    DOOR_REASONS,
};

/* Words for logs and labels. */
extern const char *const door_rules_names[DOOR_REASONS];

enum door_allowance {
    ALLOWANCE_STREAMS,
    ALLOWANCE_RESETS,
    ALLOWANCE_OTHERS,
    ALLOWANCE_SMALL,
    ALLOWANCE_DATA_KIB,
    ALLOWANCES,
};

/* clock_monotonic_us at which each allowance is whole again. Zeroed: all are whole. */
struct door_used {
    int64_t whole_us[ALLOWANCES];
};

/* Charge what has been counted, and set the counts to zero. DOOR_NONE: go on. */
enum door_reason door_rules_charge(
    struct door_used *used, struct frame_counts *counts, bool is_authenticated, int64_t now_us);

/* Whether there is anything to charge at all: for authenticated connections mostly not. */
static inline bool door_rules_apply(const struct frame_counts *counts, bool is_authenticated)
{
    return !is_authenticated || counts->resets > 0 || counts->others > 0;
}

#endif

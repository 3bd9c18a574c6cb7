/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_scan.h - what the HTTP/2 frames on a connection are, from their nine-byte heads alone. Internal to rpc/.
 *
 * It sees the bytes before the core does, in pieces of any size, and keeps none. Payloads are skipped, so its cost is
 * per frame. Pure: what the counts mean is for door_rules.h to decide.
 */
#ifndef RPC_FRAME_SCAN_H
#define RPC_FRAME_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FRAME_SCAN_HEAD_BYTES = 9,
    FRAME_SCAN_PREFACE_BYTES = 24,
    /* A header block, with all its CONTINUATION frames, and any frame but DATA. The core takes far less. */
    FRAME_SCAN_MAX_HEADER_BYTES = 64 * 1024,
};

/* How many have begun since the counts were last set to zero. */
struct frame_counts {
    uint32_t streams;    /* HEADERS */
    uint32_t resets;     /* RST_STREAM */
    uint32_t others;     /* all but these two, DATA and WINDOW_UPDATE; DATA that is empty and not the last */
    uint32_t small;      /* DATA and WINDOW_UPDATE: one each, however large */
    uint64_t data_bytes; /* payload of DATA, as announced */
};

struct frame_scan {
    struct frame_counts counts;
    uint32_t skip;         /* bytes of the preface, then of payloads, that are still to come */
    uint32_t header_bytes; /* of the header block that is open */
    uint8_t have;          /* bytes of head */
    uint8_t head[FRAME_SCAN_HEAD_BYTES];
};

void frame_scan_init(struct frame_scan *scan);

/* Count what has arrived. false: the header is larger than any call needs; the connection has to be closed. */
bool frame_scan_read(struct frame_scan *scan, const void *bytes, size_t length);

#endif

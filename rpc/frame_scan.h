/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_scan.h - counts the HTTP/2 frames on a connection by kind, from their nine-byte heads alone. Internal
 * to rpc/.
 *
 * The scan gets the bytes before the core does, in pieces of any size, and keeps none of them. Payloads are
 * skipped, so the cost is per frame. Pure: door_rules.h decides what the counts mean.
 */
#ifndef RPC_FRAME_SCAN_H
#define RPC_FRAME_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FRAME_SCAN_HEAD_BYTES = 9,
    FRAME_SCAN_PREFACE_BYTES = 24,
    /*
     * Bound of a header block with all its CONTINUATION frames, and of any frame but DATA. The core's own
     * bound is far lower.
     */
    FRAME_SCAN_MAX_HEADER_BYTES = 64 * 1024,
};

/* The number of frames that have begun since the counts were last set to zero. */
struct frame_counts {
    uint32_t streams; /* HEADERS */
    uint32_t resets;  /* RST_STREAM */
    /*
     * all kinds but HEADERS, RST_STREAM, DATA and WINDOW_UPDATE; also empty DATA that does not end its stream
     */
    uint32_t others;
    uint32_t small;      /* DATA and WINDOW_UPDATE: each counts as one, however large */
    uint64_t data_bytes; /* sum of the payloads of DATA, as their heads announce them */
};

struct frame_scan {
    struct frame_counts counts;
    uint32_t skip;         /* outstanding bytes of the preface or of a payload, which are skipped */
    uint32_t header_bytes; /* size so far of the open header block */
    uint8_t have;          /* the number of bytes in head */
    uint8_t head[FRAME_SCAN_HEAD_BYTES];
};

void frame_scan_init(struct frame_scan *scan);

/*
 * Count the frames in these bytes. false: a header is larger than any call needs; the connection has to be
 * closed.
 */
bool frame_scan_read(struct frame_scan *scan, const void *bytes, size_t length);

#endif

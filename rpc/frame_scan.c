/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_scan.c - see the header. The nine bytes of a frame's head may arrive in pieces; of a payload only the
 * number of outstanding bytes is kept.
 */
#include "rpc/frame_scan.h"

#include <string.h>

enum { DATA, HEADERS, RST_STREAM = 3, WINDOW_UPDATE = 8, CONTINUATION = 9 };
enum { FLAG_END_STREAM = 0x1, FLAG_END_HEADERS = 0x4 };

void frame_scan_init(struct frame_scan *scan)
{
    *scan = (struct frame_scan){ .skip = FRAME_SCAN_PREFACE_BYTES };
}

static void count(struct frame_counts *counts, int type, int flags, uint32_t length)
{
    switch (type) {
    case DATA:
        counts->data_bytes += length;
        if (length > 0 || (flags & FLAG_END_STREAM))
            counts->small++;
        else
            counts->others++;
        return;
    case HEADERS:
        counts->streams++;
        return;
    case RST_STREAM:
        counts->resets++;
        return;
    case WINDOW_UPDATE:
        counts->small++;
        return;
    default:
        counts->others++;
        return;
    }
}

static bool take_head(struct frame_scan *scan)
{
    const uint8_t *head = scan->head;
    uint32_t length = (uint32_t)head[0] << 16 | (uint32_t)head[1] << 8 | head[2];
    int type = head[3], flags = head[4];

    scan->have = 0;
    scan->skip = length;
    count(&scan->counts, type, flags, length);
    if (type == DATA)
        return true;
    if (length > FRAME_SCAN_MAX_HEADER_BYTES)
        return false;
    if (type == HEADERS || type == CONTINUATION) {
        scan->header_bytes += length;
        if (scan->header_bytes > FRAME_SCAN_MAX_HEADER_BYTES)
            return false;
        if (flags & FLAG_END_HEADERS)
            scan->header_bytes = 0;
    }
    return true;
}

bool frame_scan_read(struct frame_scan *scan, const void *bytes, size_t length)
{
    const uint8_t *at = bytes, *end = at + length;

    while (at < end) {
        size_t there = (size_t)(end - at), wanted;

        if (scan->skip > 0) {
            wanted = scan->skip < there ? scan->skip : there;
            scan->skip -= (uint32_t)wanted;
            at += wanted;
            continue;
        }
        wanted = (size_t)FRAME_SCAN_HEAD_BYTES - scan->have;
        wanted = wanted < there ? wanted : there;
        memcpy(scan->head + scan->have, at, wanted);
        scan->have = (uint8_t)(scan->have + wanted);
        at += wanted;
        if (scan->have == FRAME_SCAN_HEAD_BYTES && !take_head(scan))
            return false;
    }
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_requests.c - the requests of a load: given out in order, and completed with parts that only the load knows
 * (the ETag of the last reply, an id of its own).
 */
#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/load.h"

enum { ID_BYTES = 16 };

/* Field 4 (precondition) with field 1 in it; field 3 (request_id). */
enum { TAG_PRECONDITION = 0x22, TAG_IF_MATCH = 0x0a, PRECONDITION_BYTES = 4, TAG_REQUEST_ID = 0x1a };

void load_requests_read(struct load *load)
{
    struct frame *frames = frames_read(load->options->file, &load->request_count);

    load->requests = calloc(load->request_count, sizeof(*load->requests));
    require(load->requests != NULL, "out of memory");
    for (size_t i = 0; i < load->request_count; i++)
        load->requests[i] = (struct request){ .frame = frames[i], .etag_size = 1, .etag = "*" };
    free(frames);
    /* Ids of a load without an end contain the time: two runs never use the same id. */
    load->ids = (uint64_t)now_ns();
}

struct request *load_requests_next(struct load *load)
{
    struct request *request;

    if (now_ns() >= load->end_ns)
        return NULL;
    do {
        if (load->next == load->request_count) {
            if (load->options->once)
                return NULL;
            load->next = 0;
        }
        request = &load->requests[load->next++];
    } while (load->options->if_match && request->under_way);
    request->under_way = true;
    return request;
}

static uint8_t *put_bytes(uint8_t *to, uint8_t tag, const void *bytes, size_t size)
{
    *to++ = tag;
    *to++ = (uint8_t)size;
    memcpy(to, bytes, size);
    return to + size;
}

grpc_byte_buffer *load_requests_message(struct load *load, const struct request *request)
{
    const struct load_options *options = load->options;
    size_t more = (options->if_match ? PRECONDITION_BYTES + request->etag_size : 0) +
                  (options->request_id ? 2 + ID_BYTES : 0);
    size_t size = request->frame.size - FRAME_PREFIX;
    grpc_slice slice = grpc_slice_malloc(size + more);
    uint8_t *to = GRPC_SLICE_START_PTR(slice);
    grpc_byte_buffer *buffer;

    memcpy(to, request->frame.bytes + FRAME_PREFIX, size);
    to += size;
    if (options->request_id) {
        char id[ID_BYTES + 1];

        snprintf(id, sizeof(id), "%016llx", (unsigned long long)load->ids++);
        to = put_bytes(to, TAG_REQUEST_ID, id, ID_BYTES);
    }
    if (options->if_match) {
        *to++ = TAG_PRECONDITION;
        *to++ = (uint8_t)(request->etag_size + 2);
        put_bytes(to, TAG_IF_MATCH, request->etag, request->etag_size);
    }
    buffer = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    return buffer;
}

/* A reply to a write is { result: { etag: TEXT, ... } }, both in field 1. */
static void keep_etag(struct request *request, const uint8_t *reply, size_t size)
{
    require(size > 4 && reply[0] == 0x0a && reply[2] == 0x0a && reply[3] < ETAG_BYTES &&
                (size_t)reply[3] + 4 <= size,
        "a reply has no ETag");
    request->etag_size = reply[3];
    memcpy(request->etag, reply + 4, request->etag_size);
}

static void keep_reply(const char *path, grpc_slice reply)
{
    FILE *file = fopen(path, "wb");

    require(file && fwrite(GRPC_SLICE_START_PTR(reply), 1, GRPC_SLICE_LENGTH(reply), file) ==
                        GRPC_SLICE_LENGTH(reply),
        "cannot keep a reply");
    fclose(file);
}

void load_requests_learn(struct load *load, struct request *request, grpc_byte_buffer *reply)
{
    grpc_byte_buffer_reader reader;
    grpc_slice all;

    if (!load->options->if_match && !load->options->keep_file)
        return;
    require(grpc_byte_buffer_reader_init(&reader, reply), "cannot read a reply");
    all = grpc_byte_buffer_reader_readall(&reader);
    if (load->options->if_match)
        keep_etag(request, GRPC_SLICE_START_PTR(all), GRPC_SLICE_LENGTH(all));
    if (load->options->keep_file)
        keep_reply(load->options->keep_file, all);
    grpc_slice_unref(all);
    grpc_byte_buffer_reader_destroy(&reader);
}

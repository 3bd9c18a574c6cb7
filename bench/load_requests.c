/*
 * load_requests.c - the requests of a load: read from its file, given out in order, completed with what only
 * the load can know (the ETag of the last reply, an id of its own).
 */
#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/load.h"

enum { FRAME_BYTES = 5, ID_BYTES = 16 };

/* Field 4 (precondition) with field 1 in it; field 3 (request_id). */
enum { TAG_PRECONDITION = 0x22, TAG_IF_MATCH = 0x0a, PRECONDITION_BYTES = 4, TAG_REQUEST_ID = 0x1a };

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;
    long length = 0;

    require(file && fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0, "cannot read the requests");
    rewind(file);
    bytes = malloc((size_t)length + 1);
    require(bytes && fread(bytes, 1, (size_t)length, file) == (size_t)length, "cannot read the requests");
    fclose(file);
    *size = (size_t)length;
    return bytes;
}

void load_requests_read(struct load *load)
{
    size_t size, room = 0;
    const uint8_t *bytes = read_file(load->options->file, &size);

    for (size_t at = 0; at + FRAME_BYTES <= size;) {
        const uint8_t *frame = bytes + at;
        size_t length = (size_t)frame[1] << 24 | (size_t)frame[2] << 16 | (size_t)frame[3] << 8 | frame[4];

        require(length <= size - at - FRAME_BYTES, "the last request is cut short");
        if (load->request_count == room) {
            room = room ? room * 2 : 1024;
            load->requests = realloc(load->requests, room * sizeof(*load->requests));
            require(load->requests != NULL, "out of memory");
        }
        load->requests[load->request_count++] =
            (struct request){ .bytes = frame + FRAME_BYTES, .size = length, .etag_size = 1, .etag = "*" };
        at += FRAME_BYTES + length;
    }
    require(load->request_count > 0, "there are no requests");
    /* Requests without an end are told apart by time: two runs never use an id twice. */
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
    grpc_slice slice = grpc_slice_malloc(request->size + more);
    uint8_t *to = GRPC_SLICE_START_PTR(slice);
    grpc_byte_buffer *buffer;

    memcpy(to, request->bytes, request->size);
    to += request->size;
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - gives the changes of a table one by one, without an end.
 */
#include <stdlib.h>

#include "api/codec.h"
#include "base/wire.h"
#include "client/lib/call_error.h"
#include "client/lib/entity_parts.h"
#include "client/lib/read_options.h"
#include "client/lib/resumed_stream.h"
#include "tavola/v1/entity_service.pb-c.h"

enum { TOKEN_FIELD = 3 };

struct tavola_watch {
    struct buf request; /* the request without a token */
    struct resumed_stream stream;
    struct arena arena; /* allocates the message */
    const Tavola__V1__WatchEntitiesResponse *message;
    size_t next;      /* position in the message */
    struct buf token; /* token behind the changes that the caller has got, with a NUL; empty: none yet */
    /* token behind the present message, with a NUL: the stream continues there after an interruption */
    struct buf resume;
    struct tavola_entity *entity;
    bool tells_bookmarks;
};

static void set_text(struct buf *out, struct str text)
{
    out->len = 0;
    buf_append(out, text);
    buf_append_byte(out, '\0');
}

static void encode_next(void *context, struct buf *request)
{
    const struct tavola_watch *watch = context;

    buf_append(request, buf_str(&watch->request));
    if (watch->resume.len > 1)
        wire_write_bytes(request, TOKEN_FIELD, str_of(watch->resume.data));
}

struct tavola_watch *tavola_watch(struct tavola *client, const struct tavola_watch_options *options)
{
    Tavola__V1__WatchEntitiesRequest request = TAVOLA__V1__WATCH_ENTITIES_REQUEST__INIT;
    const struct tavola_read_options read = { .select = options->select };
    struct tavola_watch *watch = xcalloc(1, sizeof(*watch));

    arena_init(&watch->arena);
    request.table = codec_bytes(str_of(options->table));
    request.filter = codec_bytes(str_of(options->filter ? options->filter : ""));
    if (options->select)
        request.options = read_options_message(&read, &watch->arena);
    buf_init(&watch->request, NULL);
    codec_pack(&watch->request, 0, &request.base);
    buf_init(&watch->token, NULL);
    buf_init(&watch->resume, NULL);
    set_text(&watch->token, str_of(options->token ? options->token : ""));
    set_text(&watch->resume, str_of(options->token ? options->token : ""));
    watch->entity = entity_make();
    watch->tells_bookmarks = options->bookmarks;
    watch->stream = (struct resumed_stream){ .client = client,
        .path = "/tavola.v1.EntityService/WatchEntities",
        .encode = encode_next,
        .context = watch,
        .never_gives_up = true };
    resumed_stream_init(&watch->stream);
    return watch;
}

void tavola_watch_free(struct tavola_watch *watch)
{
    if (!watch)
        return;
    resumed_stream_cleanup(&watch->stream);
    arena_cleanup(&watch->arena);
    buf_cleanup(&watch->request);
    buf_cleanup(&watch->token);
    buf_cleanup(&watch->resume);
    tavola_entity_free(watch->entity);
    free(watch);
}

void tavola_watch_stop(struct tavola_watch *watch)
{
    resumed_stream_stop(&watch->stream);
}

/* Receive the next message. The caller has got all changes of the previous one, and asks for more. */
static bool receive_message(struct tavola_watch *watch, struct tavola_error *error)
{
    struct str bytes;
    const void *read;

    set_text(&watch->token, str_of(watch->resume.data));
    watch->message = NULL;
    watch->next = 0;
    arena_cleanup(&watch->arena);
    if (!resumed_stream_next(&watch->stream, &watch->arena, &bytes, error) ||
        session_read(&tavola__v1__watch_entities_response__descriptor, bytes, &watch->arena, &read, error) !=
            TAVOLA_OK)
        return false;
    watch->message = read;
    if (watch->message->resume_token.len > 0)
        set_text(&watch->resume, codec_str(watch->message->resume_token));
    return true;
}

bool tavola_watch_next(struct tavola_watch *watch, struct tavola_change *out, struct tavola_error *error)
{
    const Tavola__V1__Change *change;
    struct tavola_error own;

    error = call_error_begin(error, &own);
    while (!watch->message || watch->next == watch->message->n_changes) {
        if (!receive_message(watch, error))
            return false;
        if (watch->tells_bookmarks && watch->message->n_changes == 0) {
            set_text(&watch->token, str_of(watch->resume.data));
            *out = (struct tavola_change){ .entity = NULL };
            return true;
        }
    }
    change = watch->message->changes[watch->next++];
    entity_reset(watch->entity);
    if (entity_receive(watch->entity, change->entity, error) != TAVOLA_OK)
        return false;
    if (watch->next == watch->message->n_changes)
        set_text(&watch->token, str_of(watch->resume.data));
    *out = (struct tavola_change){ .entity = watch->entity,
        .inserted = change->inserted,
        .deleted = change->deleted,
        .left_out = change->left_out };
    return true;
}

const char *tavola_watch_token(const struct tavola_watch *watch)
{
    return watch->token.data;
}

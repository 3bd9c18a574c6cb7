/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.c - reads entities one by one: queries and look-ups in pages, scans in messages.
 *
 * A cursor holds one page, and one entity that is filled again at each step. The request is kept without a
 * token; each page's token is appended to it.
 */
#include <stdlib.h>

#include "api/codec.h"
#include "base/wire.h"
#include "client/lib/call_error.h"
#include "client/lib/entity_parts.h"
#include "client/lib/read_options.h"
#include "client/lib/resumed_stream.h"
#include "tavola/v1/entity_service.pb-c.h"
#include "tavola/v1/index_service.pb-c.h"

/* The common parts of the three kinds of pages. */
struct page {
    Tavola__V1__Entity **entities;
    Tavola__V1__EntityKey **keys; /* of look-ups with keys_only, instead of entities */
    size_t count;
    struct str token;
    int64_t taken_us, until_us; /* of the snapshot, in a scan's first message; 0: none */
    bool continued, continues;  /* a part of a large entity: ScanEntitiesResponse */
};

struct cursor_kind {
    const char *path;
    const ProtobufCMessageDescriptor *reply_type;
    uint32_t token_field; /* number of the request's field for a token */
    struct page (*read)(const void *reply);
    bool is_stream;
};

struct tavola_cursor {
    struct tavola *client;
    const struct cursor_kind *kind;
    struct buf request; /* the request without a token */
    int64_t timeout_ms;
    struct resumed_stream stream; /* used by a scan */

    struct arena arena; /* allocates the page */
    struct page page;
    size_t next;                /* position in the page */
    struct buf token;           /* token of the next page, with a NUL; empty: the first page */
    bool is_last;               /* there is no next page */
    int64_t taken_us, until_us; /* as in struct page, of the first one */
    struct tavola_entity *entity;
};

/* ---- the kinds ---- */

static struct page read_query_page(const void *reply)
{
    const Tavola__V1__QueryEntitiesResponse *page = reply;

    return (struct page){
        .entities = page->entities, .count = page->n_entities, .token = codec_str(page->next_page_token)
    };
}

static int64_t unix_us(const Google__Protobuf__Timestamp *time)
{
    return time ? time->seconds * 1000000 + time->nanos / 1000 : 0;
}

static struct page read_scan_page(const void *reply)
{
    const Tavola__V1__ScanEntitiesResponse *page = reply;
    const Tavola__V1__ScanSnapshot *snapshot = page->snapshot;

    return (struct page){ .entities = page->entities,
        .count = page->n_entities,
        .token = codec_str(page->resume_token),
        .taken_us = snapshot ? unix_us(snapshot->taken_at) : 0,
        .until_us = snapshot ? unix_us(snapshot->held_until) : 0,
        .continued = page->continued,
        .continues = page->continues };
}

static struct page read_lookup_page(const void *reply)
{
    const Tavola__V1__LookupIndexResponse *page = reply;

    return (struct page){ .entities = page->n_keys > 0 ? NULL : page->entities,
        .keys = page->keys,
        .count = page->n_keys > 0 ? page->n_keys : page->n_entities,
        .token = codec_str(page->next_page_token) };
}

static const struct cursor_kind query_kind = {
    .path = "/tavola.v1.EntityService/QueryEntities",
    .reply_type = &tavola__v1__query_entities_response__descriptor,
    .token_field = 3,
    .read = read_query_page,
};

static const struct cursor_kind scan_kind = {
    .path = "/tavola.v1.EntityService/ScanEntities",
    .reply_type = &tavola__v1__scan_entities_response__descriptor,
    .token_field = 2,
    .read = read_scan_page,
    .is_stream = true,
};

static const struct cursor_kind lookup_kind = {
    .path = "/tavola.v1.IndexService/LookupIndex",
    .reply_type = &tavola__v1__lookup_index_response__descriptor,
    .token_field = 9,
    .read = read_lookup_page,
};

/* ---- opening ---- */

static void encode_next(void *context, struct buf *request)
{
    const struct tavola_cursor *cursor = context;

    buf_append(request, buf_str(&cursor->request));
    if (cursor->token.len > 1)
        wire_write_bytes(request, cursor->kind->token_field, str_of(cursor->token.data));
}

static void set_token(struct tavola_cursor *cursor, struct str token)
{
    cursor->token.len = 0;
    buf_append(&cursor->token, token);
    buf_append_byte(&cursor->token, '\0');
}

static struct tavola_cursor *open_cursor(struct tavola *client, const struct cursor_kind *kind,
    const ProtobufCMessage *request, const char *token, int64_t timeout_ms)
{
    struct tavola_cursor *cursor = xcalloc(1, sizeof(*cursor));

    cursor->client = client;
    cursor->kind = kind;
    cursor->timeout_ms = timeout_ms;
    cursor->stream = (struct resumed_stream){
        .client = client, .path = kind->path, .encode = encode_next, .context = cursor
    };
    resumed_stream_init(&cursor->stream);
    arena_init(&cursor->arena);
    buf_init(&cursor->request, NULL);
    codec_pack(&cursor->request, 0, request);
    buf_init(&cursor->token, NULL);
    set_token(cursor, str_of(token ? token : ""));
    cursor->entity = entity_make();
    return cursor;
}

static Tavola__V1__Query query_of(const struct tavola_query *query)
{
    Tavola__V1__Query out = TAVOLA__V1__QUERY__INIT;

    out.table = codec_bytes(str_of(query->table));
    out.filter = codec_bytes(str_of(query->filter ? query->filter : ""));
    out.descending = query->descending;
    return out;
}

struct tavola_cursor *tavola_query(struct tavola *client, const struct tavola_query *query)
{
    Tavola__V1__QueryEntitiesRequest request = TAVOLA__V1__QUERY_ENTITIES_REQUEST__INIT;
    Tavola__V1__Query wanted = query_of(query);
    struct tavola_cursor *cursor;
    struct arena arena;

    arena_init(&arena);
    request.query = &wanted;
    request.page_size = query->page_size;
    request.options = read_options_message(&query->read, &arena);
    cursor = open_cursor(client, &query_kind, &request.base, query->token, query->read.timeout_ms);
    arena_cleanup(&arena);
    return cursor;
}

struct tavola_cursor *tavola_scan(struct tavola *client, const struct tavola_query *query)
{
    Tavola__V1__ScanEntitiesRequest request = TAVOLA__V1__SCAN_ENTITIES_REQUEST__INIT;
    Tavola__V1__Query wanted = query_of(query);
    struct tavola_cursor *cursor;
    struct arena arena;

    arena_init(&arena);
    request.query = &wanted;
    request.options = read_options_message(&query->read, &arena);
    request.snapshot = query->snapshot;
    request.in_parts = true;
    cursor = open_cursor(client, &scan_kind, &request.base, query->token, 0);
    cursor->stream.is_whole = query->snapshot;
    arena_cleanup(&arena);
    return cursor;
}

static void write_freshness(
    const struct tavola_lookup *lookup, struct arena *arena, Tavola__V1__LookupIndexRequest *request)
{
    Tavola__V1__Freshness *freshness = ARENA_NEW(arena, Tavola__V1__Freshness);

    tavola__v1__freshness__init(freshness);
    freshness->latest = lookup->latest;
    if (lookup->consistency_token && *lookup->consistency_token) {
        freshness->at_least = ARENA_NEW(arena, ProtobufCBinaryData);
        freshness->at_least[freshness->n_at_least++] = codec_bytes(str_of(lookup->consistency_token));
    }
    if (freshness->latest || freshness->n_at_least > 0)
        request->freshness = freshness;
}

struct tavola_cursor *tavola_lookup(struct tavola *client, const struct tavola_lookup *lookup)
{
    Tavola__V1__LookupIndexRequest request = TAVOLA__V1__LOOKUP_INDEX_REQUEST__INIT;
    const Tavola__V1__ReadOptions *selected;
    struct tavola_cursor *cursor;
    struct arena arena;

    arena_init(&arena);
    request.index = codec_bytes(str_of(lookup->index));
    request.equals = ARENA_ARRAY(&arena, Tavola__V1__Value *, lookup->equals_count + 1);
    for (; request.n_equals < lookup->equals_count; request.n_equals++)
        request.equals[request.n_equals] = entity_value_message(&lookup->equals[request.n_equals], &arena);
    write_freshness(lookup, &arena, &request);
    request.keys_only = lookup->keys_only;
    request.trust_index = lookup->trust_index;
    request.read_sources = lookup->read_sources;
    selected = read_options_message(&(struct tavola_read_options){ .select = lookup->select }, &arena);
    request.select = selected->select;
    request.n_select = selected->n_select;
    request.descending = lookup->descending;
    request.page_size = lookup->page_size;
    cursor = open_cursor(client, &lookup_kind, &request.base, lookup->token, lookup->timeout_ms);
    arena_cleanup(&arena);
    return cursor;
}

void tavola_cursor_free(struct tavola_cursor *cursor)
{
    if (!cursor)
        return;
    resumed_stream_cleanup(&cursor->stream);
    arena_cleanup(&cursor->arena);
    buf_cleanup(&cursor->request);
    buf_cleanup(&cursor->token);
    tavola_entity_free(cursor->entity);
    free(cursor);
}

/* ---- steps ---- */

/* Read the next page. false: there is none, or the call failed; *error says which. */
static bool receive_page(struct tavola_cursor *cursor, struct str *bytes, struct tavola_error *error)
{
    struct session_call call;
    struct buf request;

    if (cursor->kind->is_stream)
        return resumed_stream_next(&cursor->stream, &cursor->arena, bytes, error);
    buf_init(&request, &cursor->arena);
    encode_next(cursor, &request);
    session_call_init(cursor->client, cursor->kind->path, &request, cursor->timeout_ms, &call);
    return session_run(cursor->client, &call, &cursor->arena, bytes, error) == TAVOLA_OK;
}

static bool turn_page(struct tavola_cursor *cursor, struct tavola_error *error)
{
    struct str bytes;
    const void *reply;

    arena_cleanup(&cursor->arena);
    cursor->page = (struct page){ .count = 0 };
    cursor->next = 0;
    if (!receive_page(cursor, &bytes, error) ||
        session_read(cursor->kind->reply_type, bytes, &cursor->arena, &reply, error) != TAVOLA_OK) {
        cursor->is_last = true;
        return false;
    }
    cursor->page = cursor->kind->read(reply);
    set_token(cursor, cursor->page.token);
    if (cursor->page.taken_us != 0) {
        cursor->taken_us = cursor->page.taken_us;
        cursor->until_us = cursor->page.until_us;
    }
    cursor->is_last = !cursor->kind->is_stream && cursor->page.token.len == 0;
    return true;
}

/*
 * Take the next entity of the page; it may be a part. After a break the service begins with its first part again, so
 * what was received is dropped.
 */
static enum tavola_code take_entity(struct tavola_cursor *cursor, struct tavola_error *error)
{
    size_t position = cursor->next++;

    if (cursor->page.entities && cursor->page.continued)
        return entity_receive_more(cursor->entity, cursor->page.entities[position], error);
    entity_reset(cursor->entity);
    if (cursor->page.entities)
        return entity_receive(cursor->entity, cursor->page.entities[position], error);
    entity_receive_key(cursor->entity, cursor->page.keys[position]);
    return TAVOLA_OK;
}

bool tavola_cursor_next(
    struct tavola_cursor *cursor, const struct tavola_entity **entity, struct tavola_error *error)
{
    struct tavola_error own;

    error = call_error_begin(error, &own);
    do {
        while (cursor->next == cursor->page.count)
            if (cursor->is_last || !turn_page(cursor, error))
                return false;
        if (take_entity(cursor, error) != TAVOLA_OK)
            return false;
    } while (cursor->page.continues);
    *entity = cursor->entity;
    return true;
}

const char *tavola_cursor_token(const struct tavola_cursor *cursor)
{
    return cursor->token.data;
}

bool tavola_cursor_snapshot(const struct tavola_cursor *cursor, int64_t *taken_us, int64_t *until_us)
{
    if (cursor->taken_us == 0)
        return false;
    *taken_us = cursor->taken_us;
    *until_us = cursor->until_us;
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_source.c - see the header.
 */
#include "client/storage_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "client/interrupt.h"
#include "client/storage_account.h"
#include "http/fetch.h"

enum { ATTEMPTS = 6, FIRST_PAUSE_US = 200000, SERVER_ERROR = 500, BUSY = 429, SHOWN_BYTES = 300 };

struct storage_source {
    struct storage_account account;
    struct arena arena;      /* of the account */
    struct arena page_arena; /* of the page */
    struct str table;
    struct fetch *fetch;
    struct str page;
    size_t at;
    bool has_page, has_failed, is_last; /* is_last: the page has no next one */
    struct str entity;                  /* the next one; empty: the page has no more */
    struct buf position;                /* of the next page, with a NUL */
};

static bool fail(struct storage_source *source, const char *text)
{
    fprintf(stderr, "tavola import: the source: %s\n", text);
    source->has_failed = true;
    return false;
}

/* ---- requests ---- */

static enum status request_page(struct storage_source *source, struct fetch_reply *out, struct error *err)
{
    struct arena *arena = &source->page_arena;
    char date[64];
    time_t now = time(NULL);
    struct tm utc;
    const char *headers[] = { "Accept: application/json;odata=minimalmetadata", "x-ms-version: 2019-02-02",
        "x-tavola-expires: true", NULL, NULL, NULL }; /* other services ignore the third one */

    gmtime_r(&now, &utc);
    strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &utc);
    headers[3] = arena_format(arena, "x-ms-date: %s", date).data;
    headers[4] = storage_account_authorization(&source->account, source->table, str_of(date), arena);
    return fetch_get(source->fetch,
        storage_account_url(&source->account, source->table, str_of(source->position.data), arena), headers,
        arena, out, err);
}

/* Whether another attempt may succeed. */
static bool is_passing(enum status status, const struct fetch_reply *reply)
{
    return status == STATUS_OK ? reply->code >= SERVER_ERROR || reply->code == BUSY
                               : status == STATUS_UNAVAILABLE;
}

static bool say_failure(struct storage_source *source, enum status status, const struct fetch_reply *reply,
    const struct error *err)
{
    char text[SHOWN_BYTES + 64];
    int shown = reply->body.len < SHOWN_BYTES ? (int)reply->body.len : SHOWN_BYTES;

    if (status == STATUS_OK)
        snprintf(text, sizeof(text), "it answers %d: %.*s", reply->code, shown, reply->body.data);
    else
        snprintf(text, sizeof(text), "%.300s", err->message);
    return fail(source, text);
}

static bool fetch_page(struct storage_source *source)
{
    struct fetch_reply reply = { 0 };
    struct error err = { 0 };
    enum status status;

    for (int attempt = 0;; attempt++) {
        arena_cleanup(&source->page_arena);
        status = request_page(source, &reply, &err);
        if (status == STATUS_OK && reply.code == 200)
            break;
        if (interrupt_came())
            return false;
        if (!is_passing(status, &reply) || attempt + 1 == ATTEMPTS)
            return say_failure(source, status, &reply, &err);
        clock_sleep(FIRST_PAUSE_US << attempt);
    }
    source->page = reply.body;
    source->at = 0;
    source->position.len = 0;
    buf_append(&source->position,
        storage_account_position(fetch_header(&reply, "x-ms-continuation-NextPartitionKey"),
            fetch_header(&reply, "x-ms-continuation-NextRowKey"), &source->page_arena));
    source->is_last = source->position.len == 0;
    buf_append_byte(&source->position, '\0');
    return true;
}

/* ---- entities ---- */

/* Find the next entity of the page; empty: it has no more. */
static bool look_ahead(struct storage_source *source)
{
    bool is_page;

    source->entity = STR_EMPTY;
    if (storage_account_next(source->page, &source->at, &source->entity, &is_page) || is_page)
        return true;
    return fail(source, "its answer is not a page of entities as JSON");
}

char *storage_source_next(struct storage_source *source)
{
    char *text;

    while (source->entity.len == 0) {
        if (source->has_failed || (source->has_page && source->is_last) || !fetch_page(source))
            return NULL;
        source->has_page = true;
        if (!look_ahead(source))
            return NULL;
    }
    text = xcalloc(1, source->entity.len + 1);
    memcpy(text, source->entity.data, source->entity.len);
    for (char *c = text; *c; c++)
        *c = *c == '\n' || *c == '\r' ? ' ' : *c; /* one line; inside texts JSON has no line ends */
    if (look_ahead(source))
        return text;
    free(text);
    return NULL;
}

bool storage_source_has_failed(const struct storage_source *source)
{
    return source->has_failed;
}

const char *storage_source_position(const struct storage_source *source)
{
    return source->entity.len == 0 ? source->position.data : NULL;
}

/* ---- opening ---- */

/* Read the file that has the connection string. */
static bool read_file(const char *path, struct buf *out)
{
    FILE *file = fopen(path, "re");
    int c;

    if (!file) {
        fprintf(stderr, "tavola import: %s: %s\n", path, strerror(errno));
        return false;
    }
    while ((c = fgetc(file)) != EOF && out->len < 65536)
        buf_append_byte(out, (uint8_t)c);
    fclose(file);
    return true;
}

static bool parse_connection(struct storage_source *source, const char *connection)
{
    struct error err = { 0 };
    struct buf text;

    buf_init(&text, &source->arena);
    if (*connection == '@' ? !read_file(connection + 1, &text) : false)
        return false;
    if (*connection != '@')
        buf_append(&text, str_of(connection));
    if (storage_account_parse(buf_str(&text), &source->arena, &source->account, &err) == STATUS_OK)
        return true;
    fprintf(stderr, "tavola import: --from: %s\n", err.message);
    return false;
}

struct storage_source *storage_source_open(const char *connection, const char *table, const char *position)
{
    struct storage_source *source = xcalloc(1, sizeof(*source));
    bool is_name = *table != '\0';

    arena_init(&source->arena);
    arena_init(&source->page_arena);
    buf_init(&source->position, NULL);
    source->table = str_of(table);
    buf_append(&source->position, str_of(position));
    buf_append_byte(&source->position, '\0');
    for (const char *c = table; *c; c++)
        is_name =
            is_name && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9'));
    if (!is_name)
        fprintf(stderr, "tavola import: \"%s\" is not the name of a table: letters and digits\n", table);
    else if (parse_connection(source, connection) && (source->fetch = fetch_open(interrupt_came)) != NULL)
        return source;
    storage_source_close(source);
    return NULL;
}

void storage_source_close(struct storage_source *source)
{
    if (!source)
        return;
    fetch_close(source->fetch);
    buf_cleanup(&source->position);
    arena_cleanup(&source->page_arena);
    arena_cleanup(&source->arena);
    free(source);
}

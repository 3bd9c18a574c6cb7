/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_url.c - splits the text from left to right and checks each part.
 */
#include "queue/redis_url.h"

#include <limits.h>
#include <string.h>

#include "base/digits.h"
#include "base/str.h"
#include "domain/reason.h"

static const struct scheme {
    const char *prefix;
    bool tls, sentinels;
} schemes[] = {
    { "redis://", false, false },
    { "rediss://", true, false },
    { "sentinel://", false, true },
    { "sentinels://", true, true },
};

static enum status refuse_url(struct error *err, const char *what)
{
    return reason_set(err, REASON_INVALID_INPUT, "Redis address: %s; expected %s", what, REDIS_URL_ALLOWED);
}

/*
 * Split text at the last or first mark. false: the text has no mark, and the outputs are unchanged.
 */
static bool split_at(struct str text, char mark, bool last, struct str *before, struct str *after)
{
    const char *at = text.len == 0 ? NULL
                     : last        ? memrchr(text.data, mark, text.len)
                                   : memchr(text.data, mark, text.len);

    if (!at)
        return false;
    *before = str_of_bytes(text.data, (size_t)(at - text.data));
    *after = str_from(text, before->len + 1);
    return true;
}

static bool decode_escapes(struct str text, struct arena *arena, const char **out)
{
    char *copy = arena_alloc(arena, text.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];

        if (c == '%') {
            int high = i + 2 < text.len ? digits_hex_value(text.data[i + 1]) : -1;
            int low = i + 2 < text.len ? digits_hex_value(text.data[i + 2]) : -1;

            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        copy[len++] = c;
    }
    copy[len] = '\0';
    *out = copy;
    return true;
}

static bool parse_number(struct str text, int max, int *out)
{
    uint64_t number;

    if (!digits_parse_unsigned(text, (uint64_t)max, &number))
        return false;
    *out = (int)number;
    return true;
}

static enum status parse_login(
    struct str login, struct arena *arena, struct redis_url *url, struct error *err)
{
    struct str user, password;

    if (!split_at(login, ':', false, &user, &password))
        return refuse_url(err, "no ':' between user and password");
    if (!decode_escapes(password, arena, &url->password))
        return refuse_url(err, "a broken % escape in the password");
    if (user.len > 0 && !decode_escapes(user, arena, &url->user))
        return refuse_url(err, "a broken % escape in the user");
    return STATUS_OK;
}

static enum status parse_endpoint(
    struct str text, struct arena *arena, struct redis_endpoint *endpoint, struct error *err)
{
    struct str host, port;

    if (!split_at(text, ':', true, &host, &port) || host.len == 0)
        return refuse_url(err, "host or port is missing");
    if (!parse_number(port, 65535, &endpoint->port) || endpoint->port == 0)
        return refuse_url(err, "the port is not a number from 1 to 65535");
    if (host.data[0] == '[' && host.data[host.len - 1] == ']')
        host = str_of_bytes(host.data + 1, host.len - 2);
    else if (memchr(host.data, ':', host.len))
        return refuse_url(err, "an IPv6 address without square brackets, or more than one host");
    if (host.len == 0)
        return refuse_url(err, "the square brackets are empty");
    endpoint->host = arena_copy(arena, host).data;
    return STATUS_OK;
}

static enum status parse_sentinels(
    struct str text, struct arena *arena, struct redis_url *url, struct error *err)
{
    struct str endpoint, rest = text;

    while (split_at(rest, ',', false, &endpoint, &rest)) {
        if (url->endpoint_count == REDIS_MAX_ENDPOINTS - 1)
            return refuse_url(err, "more than 16 Sentinels");
        TRY(parse_endpoint(endpoint, arena, &url->endpoints[url->endpoint_count++], err));
    }
    return parse_endpoint(rest, arena, &url->endpoints[url->endpoint_count++], err);
}

static enum status parse_remote(struct str text, const struct scheme *scheme, struct arena *arena,
    struct redis_url *url, struct error *err)
{
    struct str rest = text, before, database = STR_EMPTY, master;

    url->tls = scheme->tls;
    if (split_at(rest, '@', true, &before, &rest))
        TRY(parse_login(before, arena, url, err));
    text = rest;
    (void)split_at(text, '/', false, &rest, &database);
    if (scheme->sentinels) {
        master = database;
        database = STR_EMPTY;
        (void)split_at(master, '/', false, &master, &database);
        if (master.len == 0)
            return refuse_url(err, "the master's name is missing");
        url->master = arena_copy(arena, master).data;
    }
    if (database.len > 0 && !parse_number(database, INT_MAX, &url->database))
        return refuse_url(err, "the database is not a number");
    if (scheme->sentinels)
        return parse_sentinels(rest, arena, url, err);
    url->endpoint_count = 1;
    return parse_endpoint(rest, arena, &url->endpoints[0], err);
}

enum status redis_url_parse(const char *text, struct arena *arena, struct redis_url *out, struct error *err)
{
    const struct str rest = str_of(text);
    struct redis_url url = { 0 };

    if (str_starts_with(rest, STR_LITERAL("unix:/"))) {
        url.path = arena_copy(arena, str_from(rest, sizeof("unix:") - 1)).data;
        *out = url;
        return STATUS_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        if (!str_starts_with(rest, str_of(schemes[i].prefix)))
            continue;
        TRY(parse_remote(str_from(rest, strlen(schemes[i].prefix)), &schemes[i], arena, &url, err));
        *out = url;
        return STATUS_OK;
    }
    return refuse_url(err, "an unknown scheme");
}

bool redis_url_is_valid(const char *text)
{
    struct arena arena __attribute__((cleanup(arena_cleanup)));
    struct redis_url url;

    arena_init(&arena);
    return redis_url_parse(text, &arena, &url, NULL) == STATUS_OK;
}

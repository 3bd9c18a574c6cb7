/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_head.c - see the header.
 *
 * The library is lenient. It takes a bare LF for the end of a line, joins lines that begin with a blank to the
 * line before, and its texts end at the first NUL. A program in front of the server may read such a head
 * differently, and then pass on what the server takes for a further request (request smuggling). The library
 * does not show the bytes of the head, but its texts lie where they have arrived: each line must begin right
 * behind the CR LF of the line before it, so nothing is left out between the texts.
 */
#include "http/request_head.h"

#include <string.h>

#include "base/digits.h"
#include "base/header_name.h"

enum { LINE_END_BYTES = 2 }; /* CR LF, which the library has replaced by NULs */

struct header_list {
    struct arena *arena;
    struct http_header *headers;
    size_t count, room;
    const char *next; /* where the next line must begin */
    bool has_gap;     /* a line began elsewhere */
};

static enum MHD_Result add_header(void *context, enum MHD_ValueKind kind, const char *name, size_t name_bytes,
    const char *value, size_t value_bytes)
{
    struct header_list *list = context;

    (void)kind;
    if (list->count == list->room)
        return MHD_NO;
    list->headers[list->count++] = (struct http_header){
        arena_copy(list->arena, str_of_bytes(name, name_bytes)),
        arena_copy(list->arena, value ? str_of_bytes(value, value_bytes) : STR_EMPTY),
    };
    list->has_gap = list->has_gap || name != list->next || !value;
    list->next = value ? value + value_bytes + LINE_END_BYTES : NULL;
    return MHD_YES;
}

/* Read the headers. false: they do not lie line behind line, from the request line to the empty line. */
static bool read_headers(struct MHD_Connection *library, const struct request_head *head, struct arena *arena,
    struct http_request *out)
{
    struct header_list list = { .arena = arena };
    int count = MHD_get_connection_values(library, MHD_HEADER_KIND, NULL, NULL);

    list.room = count > 0 ? (size_t)count : 0;
    list.headers = ARENA_ARRAY(list.arena, struct http_header, list.room + 1);
    list.next = head->version + strlen(head->version) + LINE_END_BYTES;
    (void)MHD_get_connection_values_n(library, MHD_HEADER_KIND, add_header, &list);
    out->headers = list.headers;
    out->header_count = list.count;
    return !list.has_gap && list.next + LINE_END_BYTES == head->method + head->bytes;
}

/* Whether method, target and version lie behind each other, with one blank between them. */
static bool is_gapless_line(const struct request_head *head, struct str method, struct str target)
{
    return head->url == head->method + method.len + 1 && head->version == head->url + target.len + 1 &&
           !memchr(target.data, ' ', target.len);
}

static bool has_control(struct str text, const char *allowed)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.data[i];

        if ((byte < ' ' || byte == 0x7F) && !memchr(allowed, byte, strlen(allowed)))
            return true;
    }
    return false;
}

/* Whether a program on the way could take a CR or another control character for the end of something. */
static bool has_controls(const struct http_request *request)
{
    if (has_control(request->method, "") || has_control(request->target, ""))
        return true;
    for (size_t i = 0; i < request->header_count; i++)
        if (has_control(request->headers[i].value, "\t"))
            return true;
    return false;
}

/*
 * Whether each header has a name. The library keeps a blank before the colon as part of the name, so that it
 * does not see a "Transfer-Encoding :" which another program on the way may see.
 */
static bool has_names(const struct http_request *request)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (!header_name_is_valid(request->headers[i].name))
            return false;
    return true;
}

static size_t count_headers(const struct http_request *request, const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < request->header_count; i++)
        count += str_equal_any_case(request->headers[i].name, str_of(name));
    return count;
}

bool request_head_length(const struct http_request *request, uint64_t *out)
{
    struct str text = http_request_header(request, "Content-Length");

    *out = 0;
    return text.len == 0 || digits_parse_unsigned(text, INT64_MAX, out);
}

/* Whether the request names one host. HTTP/1.0 does without. */
static bool has_host(const struct http_request *request, const char *version)
{
    size_t hosts = count_headers(request, "Host");

    return hosts == 1 || (hosts == 0 && strcmp(version, "HTTP/1.0") == 0);
}

/*
 * Whether another program on the way could see the end of the request elsewhere: two lengths, a length beside
 * chunks, or chunks in HTTP/1.0, which has none.
 */
static bool is_ambiguous(const struct http_request *request, const char *version)
{
    size_t lengths = count_headers(request, "Content-Length");
    size_t codings = count_headers(request, "Transfer-Encoding");
    uint64_t length;

    return lengths > 1 || codings > 1 || (lengths > 0 && codings > 0) ||
           !request_head_length(request, &length) ||
           (codings > 0 && (strcmp(version, "HTTP/1.0") == 0 ||
                               !str_equal_any_case(http_request_header(request, "Transfer-Encoding"),
                                   STR_LITERAL("chunked"))));
}

const char *request_head_read(struct connection *connection, const struct request_head *head,
    struct arena *arena, struct http_request *out)
{
    struct str rest;
    bool is_gapless;

    out->method = arena_copy(arena, str_of(head->method));
    out->target = arena_copy(arena, str_of(connection->target ? connection->target : ""));
    rest = out->target;
    out->path = str_take(&rest, '?');
    out->query = rest;
    out->body = STR_EMPTY;
    out->peer = arena_copy(arena, str_of(connection->peer));
    out->is_tls = connection->server->options.tls != NULL;
    is_gapless = read_headers(connection->library, head, arena, out) &&
                 is_gapless_line(head, out->method, out->target);
    if (!is_gapless)
        return "each line of the head must end with CR LF and begin behind the one before it: without a NUL, a "
               "folded header or a second blank\n";
    if (has_controls(out))
        return "the request line or a header has a control character\n";
    if (!has_names(out))
        return "the name of a header has a character that is not allowed, such as a blank before the colon\n";
    if (!has_host(out, head->version))
        return "the request must have one header Host\n";
    if (is_ambiguous(out, head->version))
        return "the end of the request is in doubt: it must have one Content-Length that is a number, or in "
               "HTTP/1.1 one Transfer-Encoding: chunked\n";
    return NULL;
}

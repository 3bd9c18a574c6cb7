/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.h - a view of bytes: a pointer and a length, no NUL needed, nothing owned.
 *
 * Passed by value; printed with "%.*s" and STR_ARG. The empty view may have data NULL.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct str {
    const char *data;
    size_t len;
};

#define STR_ARG(s) (int)(s).len, (s).len ? (s).data : ""
#define STR_LITERAL(text) ((struct str){ .data = (text), .len = sizeof(text) - 1 })
#define STR_EMPTY ((struct str){ .data = "", .len = 0 })

static inline struct str str_of(const char *text)
{
    return (struct str){ .data = text, .len = text ? strlen(text) : 0 };
}

static inline struct str str_of_bytes(const void *data, size_t len)
{
    return (struct str){ .data = data, .len = len };
}

static inline bool str_equal(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* As str_equal, but without regard to the case of ASCII letters. */
static inline bool str_equal_any_case(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || strncasecmp(a.data, b.data, a.len) == 0);
}

/* Compare by unsigned bytes, a prefix first: the order of keys in the whole program. */
static inline int str_compare(struct str a, struct str b)
{
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared ? memcmp(a.data, b.data, shared) : 0;

    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

static inline bool str_starts_with(struct str text, struct str prefix)
{
    return text.len >= prefix.len && (prefix.len == 0 || memcmp(text.data, prefix.data, prefix.len) == 0);
}

/* The bytes from offset on; empty when offset is past the end. */
static inline struct str str_from(struct str text, size_t offset)
{
    if (offset >= text.len)
        return STR_EMPTY;
    return (struct str){ .data = text.data + offset, .len = text.len - offset };
}

/* The text without these bytes at its beginning and its end. */
static inline struct str str_trim(struct str text, const char *bytes)
{
    size_t count = strlen(bytes);

    while (text.len > 0 && memchr(bytes, text.data[0], count))
        text = str_from(text, 1);
    while (text.len > 0 && memchr(bytes, text.data[text.len - 1], count))
        text.len--;
    return text;
}

/*
 * Take the bytes before the first mark, and move *text behind the mark. If there is no mark, take
 * all bytes.
 */
static inline struct str str_take(struct str *text, char mark)
{
    const char *end = text->len > 0 ? memchr(text->data, mark, text->len) : NULL;
    struct str taken = { text->data, end ? (size_t)(end - text->data) : text->len };

    *text = str_from(*text, taken.len + 1);
    return taken;
}

/* The bytes behind the last mark. If there is no mark, all bytes. */
static inline struct str str_behind_last(struct str text, char mark)
{
    size_t begin = text.len;

    while (begin > 0 && text.data[begin - 1] != mark)
        begin--;
    return str_from(text, begin);
}

#endif

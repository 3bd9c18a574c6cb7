/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_comments.h - what the protos say of methods, messages, fields and values, for help at the command line. The build
 * puts the protos of tavola.v1 into the program as they are, since the schema that reflection serves has no comments.
 */
#ifndef CLIENT_API_COMMENTS_H
#define CLIENT_API_COMMENTS_H

#include <stdio.h>

#include "base/arena.h"
#include "base/str.h"

/*
 * The comment above a declaration, as one line; empty: there is none.
 *
 * scope   a message, an enumeration or a service: "tavola.v1.Query"; a nested one: "tavola.v1.Step.Move"
 * member  a field, a value or a method of it: "table"; empty: the scope itself
 */
struct str api_comments_find(struct str scope, struct str member, struct arena *arena);

/* The same in a text: for tests. */
struct str api_comments_find_in(const char *proto, struct str scope, struct str member, struct arena *arena);

/* Print a text in lines of at most `width` columns, each behind `indent` blanks. Nothing for an empty text. */
void api_comments_print(struct str text, int indent, int width, FILE *out);

#endif

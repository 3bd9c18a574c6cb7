/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multipart.h - bodies of several parts (multipart/mixed), read and written. Pure.
 *
 *   --BOUNDARY
 *   Header: value
 *
 *   body of the part
 *   --BOUNDARY--
 *
 * Reading accepts what clients have been seen to send: lines that end with LF or CRLF, spaces behind a boundary, text before
 * the first and behind the last boundary, and a last boundary that is missing. The line end before a boundary belongs to
 * the boundary. All that is read borrows the body; the time is linear in its size.
 */
#ifndef ODATA_BATCH_MULTIPART_H
#define ODATA_BATCH_MULTIPART_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

enum { MULTIPART_BOUNDARY_BYTES = 200 };

/*
 * Take a line off the text, without its LF or CRLF; the last one may lack it. false: the text is empty.
 */
bool multipart_take_line(struct str *text, struct str *line);

/*
 * Read the value of a Content-Type: multipart/mixed with a parameter boundary, in quotes or without.
 *
 * false: another type, or a boundary that is missing, empty, longer than MULTIPART_BOUNDARY_BYTES or has characters other
 * than visible ASCII
 */
bool multipart_boundary(struct str content_type, struct str *out);

/* The parts of a body; set `rest` to the body first. */
struct multipart_reader {
    struct str boundary;
    struct str rest;
    bool has_begun; /* the first boundary has been read */
    bool has_ended; /* the last boundary has been read */
};

struct multipart_reader multipart_read(struct str body, struct str boundary);

/* The next part, with its headers. false: there is none left. */
bool multipart_next(struct multipart_reader *reader, struct str *part);

/*
 * The value of a header among the lines up to the first empty one, or up to the end; names are compared without case. Empty:
 * there is none. The first of several counts.
 */
struct str multipart_header(struct str part, const char *name);

/* What is behind the first empty line; empty if there is no such line. */
struct str multipart_body(struct str part);

/* Append "--BOUNDARY" or, as the last one, "--BOUNDARY--", with a line end. */
void multipart_write_boundary(struct buf *out, struct str boundary, bool is_last);

#endif

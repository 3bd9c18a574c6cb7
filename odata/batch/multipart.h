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
 * Reading accepts what clients have been seen to send: lines that end with LF or CRLF, spaces behind a
 * boundary, text before the first and behind the last boundary. A part ends with a boundary: what no boundary
 * follows is no part, since its rest may have been cut off. The line end before a boundary belongs to the
 * boundary. The results borrow the body; the time is linear in its size.
 */
#ifndef ODATA_BATCH_MULTIPART_H
#define ODATA_BATCH_MULTIPART_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

enum { MULTIPART_BOUNDARY_BYTES = 200 };

/*
 * Take a line off the text, without its LF or CRLF; the last line may have neither. false: the text is empty.
 */
bool multipart_take_line(struct str *text, struct str *line);

/*
 * Read the value of a Content-Type: multipart/mixed with a parameter boundary, quoted or not.
 *
 * false: another type; or the boundary is missing, empty, longer than MULTIPART_BOUNDARY_BYTES, or has other
 * characters than visible ASCII
 */
bool multipart_boundary(struct str content_type, struct str *out);

/* The parts of a body; set `rest` to the body first. */
struct multipart_reader {
    struct str boundary;
    struct str rest; /* behind the boundary that was read last */
    bool has_begun;  /* the first boundary has been read */
    bool has_ended;  /* the last boundary has been read */
};

struct multipart_reader multipart_read(struct str body, struct str boundary);

/*
 * The next part, with its headers. false: no further part ends with a boundary. Unless `has_ended` is set, the
 * last boundary is missing then, and `rest` is the text behind the boundary that was read last.
 */
bool multipart_next(struct multipart_reader *reader, struct str *part);

/*
 * The value of a header in the lines before the first empty line; empty if there is no such header. Names are
 * compared without regard to case. If the header stands there several times, the first one counts.
 */
struct str multipart_header(struct str part, const char *name);

/* The part behind the first empty line; empty if there is no empty line. */
struct str multipart_body(struct str part);

/* Append a line with "--BOUNDARY" or, as the last boundary, "--BOUNDARY--". */
void multipart_write_boundary(struct buf *out, struct str boundary, bool is_last);

#endif

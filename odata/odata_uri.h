/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_uri.h - percent-encoded text of URLs, and the parameters of a query string.
 */
#ifndef ODATA_ODATA_URI_H
#define ODATA_ODATA_URI_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

/* The part of a URL that contains the text: in a query string '+' means a space. */
enum odata_uri_part { ODATA_URI_PATH, ODATA_URI_QUERY };

/*
 * Decode %xx. The result is in the arena, or is the text itself if nothing is encoded.
 *
 * false: a '%' without two hexadecimal digits, or the decoded bytes are not UTF-8
 */
bool odata_uri_decode(struct str text, enum odata_uri_part part, struct arena *arena, struct str *out);

/* Append the text; every byte but letters, digits and - . _ ~ is encoded. */
void odata_uri_encode(struct str text, struct buf *out);

/* Append a key for use between quotes in a URL: encoded, with each quote doubled. */
void odata_uri_encode_key(struct str key, struct buf *out);

/*
 * Take the next parameter off a query string; name and value stay encoded. A parameter without '=' has an
 * empty value. Empty parameters, as in "a=1&&b=2", are skipped. false: there is no further parameter.
 */
bool odata_uri_take_parameter(struct str *query, struct str *name, struct str *value);

#endif

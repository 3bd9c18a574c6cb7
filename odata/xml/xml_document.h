/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml_document.h - the XML bodies of requests, as a tree of names and texts.
 *
 * No other file includes libxml2's headers. A document that declares a type or an entity is refused where the
 * declaration begins, so nothing is expanded and nothing is fetched. The bytes are read as UTF-8, whatever
 * encoding they declare. Attributes, comments, processing instructions and the prefixes of names are ignored.
 */
#ifndef ODATA_XML_XML_DOCUMENT_H
#define ODATA_XML_XML_DOCUMENT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

enum {
    MAX_XML_BYTES = 64 * 1024,
    MAX_XML_DEPTH = 8,
    MAX_XML_ELEMENTS = 1024,
};

struct xml_element {
    struct str name; /* without its prefix */
    struct str text; /* of an element without children: its text, without white space at its ends */
    struct xml_element *parent, *first, *last, *next;
};

/*
 * Read a document; the tree is in the arena.
 *
 * STATUS_INVALID  INVALID_XML_DOCUMENT: it is not well formed, is larger or deeper than the bounds above, or declares a
 *                 type or an entity
 */
MUST_USE enum status xml_document_read(
    struct str body, struct arena *arena, struct xml_element **root, struct error *err);

/* The first child of this name; NULL: there is none. */
const struct xml_element *xml_document_child(const struct xml_element *parent, const char *name);

/*
 * Append the text. & < > " and ' become references; control characters that XML does not allow are left out.
 */
void xml_document_write_text(struct buf *out, struct str text);

#endif

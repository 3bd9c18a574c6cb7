/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_reference.h - properties that hold a blob: strings of the form `tavola-blob:` and the id of a content in
 * hexadecimal. Only tables with blob_properties read such strings as references. Pure.
 */
#ifndef DOMAIN_BLOBS_BLOB_REFERENCE_H
#define DOMAIN_BLOBS_BLOB_REFERENCE_H

#include <stddef.h>

#include "domain/blobs/blob.h"
#include "domain/properties/property.h"

/* The value of the property. */
struct str blob_reference_format(const struct blob_id *id, struct arena *arena);

/* false: text is not a reference; *out is unchanged. */
MUST_USE bool blob_reference_parse(struct str text, struct blob_id *out);

/* Different contents, in the order of their ids. */
struct blob_id_list {
    struct blob_id *items;
    size_t count;
};

/* The contents that the properties hold. Strings that only begin like a reference are left out. */
struct blob_id_list blob_reference_list(struct property_list properties, struct arena *arena);

/* Whether the list has the id. */
bool blob_id_list_has(const struct blob_id_list *list, const struct blob_id *id);

/*
 * Check the properties of an entity.
 *
 * STATUS_INVALID  INVALID_INPUT: a string begins like a reference and is none, or there are more references than
 *                 LIMIT_ENTITY_BLOBS
 */
MUST_USE enum status blob_reference_check(struct property_list properties, struct error *err);

#endif

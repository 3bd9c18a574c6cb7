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

/*
 * The contents that an entity of these properties and this rest holds. Strings that only begin like a reference are
 * left out.
 */
struct blob_id_list blob_reference_list(
    struct property_list properties, struct property_rest rest, struct arena *arena);

/*
 * The contents that a part of a wide entity holds, as it is stored beside the part: BLOB_ID_BYTES for each property
 * that is a reference.
 */
struct str blob_reference_ids(struct property_list part, struct arena *arena);

/* Whether the list has the id. */
bool blob_id_list_has(const struct blob_id_list *list, const struct blob_id *id);

/*
 * Check the properties of an entity, which has the references of the rest too.
 *
 * STATUS_INVALID  INVALID_INPUT: a string begins like a reference and is none, or there are more references than
 *                 LIMIT_ENTITY_BLOBS
 */
MUST_USE enum status blob_reference_check(
    struct property_list properties, struct property_rest rest, struct error *err);

#endif

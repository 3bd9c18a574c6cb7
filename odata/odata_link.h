/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_link.h - the links in replies: odata.metadata, odata.id, odata.editLink and Location.
 */
#ifndef ODATA_ODATA_LINK_H
#define ODATA_ODATA_LINK_H

#include "base/buf.h"
#include "domain/keys/entity_key.h"

/* Append T(PartitionKey='p',RowKey='r'), encoded for a URL. */
void odata_link_write_entity(struct str table, const struct entity_key *key, struct buf *out);

/* Append Tables('T'). */
void odata_link_write_table(struct str table, struct buf *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_link.c - see the header.
 */
#include "odata/odata_link.h"

#include "odata/odata_uri.h"

void odata_link_write_entity(struct str table, const struct entity_key *key, struct buf *out)
{
    buf_append(out, table);
    buf_append(out, STR_LITERAL("(PartitionKey='"));
    odata_uri_encode_key(key->partition, out);
    buf_append(out, STR_LITERAL("',RowKey='"));
    odata_uri_encode_key(key->row, out);
    buf_append(out, STR_LITERAL("')"));
}

void odata_link_write_table(struct str table, struct buf *out)
{
    buf_append(out, STR_LITERAL("Tables('"));
    odata_uri_encode_key(table, out);
    buf_append(out, STR_LITERAL("')"));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_entity.h - entities and tables in the bodies of requests and replies.
 *
 * A request may have any of the three levels of metadata: members that begin with "odata." are ignored, and
 * every type may be annotated. api/json/entity_json.h says which values are accepted and how each is written.
 * Clients of the Azure service do not know ENTITY_JSON_EXPIRES: a request may have it, a reply has it if it was asked
 * for.
 */
#ifndef ODATA_ODATA_ENTITY_H
#define ODATA_ODATA_ENTITY_H

#include "base/buf.h"
#include "domain/entities/entity.h"
#include "domain/operations/query_operations.h"
#include "odata/odata_format.h"
#include "odata/odata_selection.h"

/*
 * Read the entity of a request. key: from the URL; NULL: the body has the key. If the URL has the key, an
 * empty body means an entity without properties. excess: as of entity_json_read.
 *
 * STATUS_INVALID, STATUS_OUT_OF_RANGE  as entity_json_read
 */
MUST_USE enum status odata_entity_read(struct str body, const struct entity_key *key, struct arena *arena,
    struct entity *out, struct property_excess **excess, struct error *err);

/* Read the name from {"TableName":"T"}. STATUS_INVALID: INVALID_INPUT, PROPERTIES_NEED_VALUE. */
MUST_USE enum status odata_entity_read_table(
    struct str body, struct arena *arena, struct str *out, struct error *err);

/* The parts of a reply that do not depend on its entities. */
struct odata_view {
    enum odata_level level;
    struct str base;    /* "http://127.0.0.1:10002/devstoreaccount1", without a slash at the end */
    struct str account; /* as the URL has it */
    struct str table;   /* as the URL has it; "Tables" for a list of tables */
    struct odata_selection selection;
    bool with_expires; /* entities that expire have the member ENTITY_JSON_EXPIRES behind Timestamp */
};

/* Append an entity as the whole body. */
void odata_entity_write(const struct odata_view *view, const struct entity *entity, struct buf *out);

/* Append a table as the whole body. */
void odata_entity_write_table(const struct odata_view *view, struct str name, struct buf *out);

/* A body with a list: begin it, add the elements, end it. */
struct odata_list {
    const struct odata_view *view;
    struct buf *out;
    size_t count;
};
void odata_list_begin(struct odata_list *list, const struct odata_view *view, struct buf *out);
void odata_list_add_entity(struct odata_list *list, const struct entity *entity);
void odata_list_add_table(struct odata_list *list, struct str name);
void odata_list_end(struct odata_list *list);

/* A sink that writes entities into a list while they are read, up to LIMIT_REPLY_BYTES of body. */
struct odata_writer {
    struct entity_sink sink;
    struct odata_list list;
    size_t begin; /* length of the body before the first entity */
};
void odata_writer_init(struct odata_writer *writer, const struct odata_view *view, struct buf *out);

#endif

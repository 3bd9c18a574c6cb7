/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_entity.c - see the header. Members have the order of the live service: odata.metadata, other members
 * of "odata.", the keys, Timestamp, the properties. An annotation stands directly before its property.
 */
#include "odata/odata_entity.h"

#include <stdio.h>
#include <time.h>

#include "api/json/entity_json.h"
#include "api/json/json_forms.h"
#include "domain/limits.h"
#include "domain/properties/datetime.h"
#include "domain/reason.h"
#include "odata/odata_link.h"

/* ---- requests ---- */

/* A DateTime as errors of the live service show it: 12/31/1600 23:59:59. Any other text is returned unchanged. */
static struct str shown_value(struct str text, struct arena *arena)
{
    struct tm parts;
    int64_t seconds;
    int32_t nanos;
    time_t moment;

    if (!datetime_parse(text, &seconds, &nanos))
        return text;
    moment = (time_t)seconds;
    if (!gmtime_r(&moment, &parts))
        return text;
    return arena_format(arena, "%02d/%02d/%04d %02d:%02d:%02d", parts.tm_mon + 1, parts.tm_mday,
        parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

/* Refuse a key with a forbidden character, or a DateTime out of range, with the text of the live service. */
static enum status refuse_range(struct str body, struct arena *arena, struct error *err)
{
    char name[ERROR_META_VALUE_BYTES] = "";
    struct error ignored;
    struct str value;

    if (err->meta_count > 0)
        snprintf(name, sizeof(name), "%s", err->meta[0].value);
    if (entity_json_read_member(body, name, arena, &value, &ignored) != STATUS_OK)
        return err->status;
    value = shown_value(value, arena);
    return reason_set(err, REASON_OUT_OF_RANGE_INPUT, "The '%s' parameter of value '%.*s' is out of range.",
        name, STR_ARG(value));
}

/* Without the byte order mark that some clients send before the JSON. */
static struct str skip_mark(struct str body)
{
    const struct str mark = STR_LITERAL("\xEF\xBB\xBF");

    return str_starts_with(body, mark) ? str_from(body, mark.len) : body;
}

enum status odata_entity_read(struct str sent, const struct entity_key *key, struct arena *arena,
    struct entity *out, struct property_excess **excess, struct error *err)
{
    struct str body = skip_mark(sent);
    enum status status =
        key ? entity_json_read_at(body.len > 0 ? body : STR_LITERAL("{}"), key, arena, out, excess, err)
            : entity_json_read(body, arena, out, excess, err);

    return status == STATUS_OUT_OF_RANGE ? refuse_range(body, arena, err) : status;
}

enum status odata_entity_read_table(struct str body, struct arena *arena, struct str *out, struct error *err)
{
    return entity_json_read_member(skip_mark(body), "TableName", arena, out, err);
}

/* ---- members ---- */

/* Append the comma before every member but the first. */
static void write_comma(struct buf *out)
{
    if (out->data[out->len - 1] != '{')
        buf_append_byte(out, ',');
}

static void begin_member(struct buf *out, struct str name)
{
    write_comma(out);
    json_forms_write_text(out, name);
    buf_append_byte(out, ':');
}

static void write_text_member(struct buf *out, struct str name, struct str value)
{
    write_comma(out);
    json_forms_write_pair(out, name, value);
}

/* Append "Name@odata.type":"Edm.Guid". */
static void write_type(struct buf *out, struct str name, enum property_type type)
{
    write_comma(out);
    json_forms_write_text(out, name);
    out->len--; /* remove the closing quote: the name is continued */
    BUF_JOIN(out, STR_LITERAL("@odata.type\":\""), str_of(property_type_name(type)), STR_LITERAL("\""));
}

/*
 * Append odata.metadata. element: "/@Element" for one entity or table, otherwise empty. Text from the request
 * is escaped like any other.
 */
static void write_metadata(const struct odata_view *view, struct str element, struct buf *out)
{
    struct buf address;

    if (view->level == ODATA_LEVEL_NONE)
        return;
    buf_init(&address, NULL);
    BUF_JOIN(&address, view->base, STR_LITERAL("/$metadata#"), view->table, element);
    if (view->selection.text.len > 0)
        BUF_JOIN(&address, STR_LITERAL("&$select="), view->selection.text);
    write_text_member(out, STR_LITERAL("odata.metadata"), buf_str(&address));
    buf_cleanup(&address);
}

static void write_names(const struct odata_view *view, struct str link, struct buf *out)
{
    struct buf text;

    buf_init(&text, NULL);
    BUF_JOIN(&text, view->account, STR_LITERAL("."), view->table);
    write_text_member(out, STR_LITERAL("odata.type"), buf_str(&text));
    text.len = 0;
    BUF_JOIN(&text, view->base, STR_LITERAL("/"), link);
    write_text_member(out, STR_LITERAL("odata.id"), buf_str(&text));
    buf_cleanup(&text);
}

/* Append odata.type, odata.id, the ETag and odata.editLink, in this order. */
static void write_identity(const struct odata_view *view, struct str link, struct str etag, struct buf *out)
{
    if (view->level == ODATA_LEVEL_FULL)
        write_names(view, link, out);
    if (etag.len > 0)
        write_text_member(out, STR_LITERAL("odata.etag"), etag);
    if (view->level == ODATA_LEVEL_FULL)
        write_text_member(out, STR_LITERAL("odata.editLink"), link);
}

/* ---- entities ---- */

static void write_property(enum odata_level level, const struct property *property, struct buf *out)
{
    if (property->value.type == PROPERTY_STRING) { /* most are */
        write_text_member(out, property->name, property->value.bytes);
        return;
    }
    if (level != ODATA_LEVEL_NONE && entity_json_needs_annotation(&property->value))
        write_type(out, property->name, property->value.type);
    begin_member(out, property->name);
    entity_json_write_value(out, &property->value);
}

/* Append the selected properties; a selected property that the entity does not have is null. */
static void write_selected(const struct odata_view *view, const struct entity *entity, struct buf *out)
{
    static const struct value null = { .type = PROPERTY_NULL };

    for (size_t i = 0; i < view->selection.count; i++) {
        struct property property;

        if (property_find(entity->properties, view->selection.names[i], &property)) {
            write_property(view->level, &property, out);
            continue;
        }
        begin_member(out, view->selection.names[i]);
        entity_json_write_value(out, &null);
    }
}

static void write_properties(const struct odata_view *view, const struct entity *entity, struct buf *out)
{
    struct str rest = entity->properties.bytes;
    struct property property;

    if (view->selection.names) {
        write_selected(view, entity, out);
        return;
    }
    while (property_next(&rest, &property))
        write_property(view->level, &property, out);
}

static void write_keys(const struct odata_view *view, const struct entity *entity, struct buf *out)
{
    if (view->selection.partition)
        write_text_member(out, STR_LITERAL("PartitionKey"), entity->key.partition);
    if (view->selection.row)
        write_text_member(out, STR_LITERAL("RowKey"), entity->key.row);
    if (!view->selection.timestamp)
        return;
    if (view->level == ODATA_LEVEL_FULL)
        write_type(out, STR_LITERAL("Timestamp"), PROPERTY_DATETIME);
    begin_member(out, STR_LITERAL("Timestamp"));
    entity_json_write_time(out, entity->timestamp, DATETIME_ALL_DIGITS);
}

static void write_expires(const struct entity *entity, struct buf *out)
{
    if (entity->expires == 0)
        return;
    begin_member(out, ENTITY_JSON_EXPIRES);
    entity_json_write_time(out, entity->expires, DATETIME_NEEDED_DIGITS);
}

static void write_entity_identity(const struct odata_view *view, const struct entity *entity, struct buf *out)
{
    struct etag etag = entity->etag;
    char text[ETAG_BYTES];
    struct buf link;

    if (view->level == ODATA_LEVEL_NONE)
        return;
    if (etag.key == 0)
        etag.key = etag_key(&entity->key);
    buf_init(&link, NULL);
    if (view->level == ODATA_LEVEL_FULL)
        odata_link_write_entity(view->table, &entity->key, &link);
    write_identity(view, buf_str(&link), str_of_bytes(text, etag_format(etag, text)), out);
    buf_cleanup(&link);
}

static void write_entity_members(const struct odata_view *view, const struct entity *entity, struct buf *out)
{
    write_entity_identity(view, entity, out);
    write_keys(view, entity, out);
    if (view->with_expires)
        write_expires(entity, out);
    write_properties(view, entity, out);
    buf_append_byte(out, '}');
}

void odata_entity_write(const struct odata_view *view, const struct entity *entity, struct buf *out)
{
    buf_append_byte(out, '{');
    write_metadata(view, STR_LITERAL("/@Element"), out);
    write_entity_members(view, entity, out);
}

/* ---- tables ---- */

static void write_table_members(const struct odata_view *view, struct str name, struct buf *out)
{
    struct buf link;

    buf_init(&link, NULL);
    odata_link_write_table(name, &link);
    write_identity(view, buf_str(&link), STR_EMPTY, out);
    write_text_member(out, STR_LITERAL("TableName"), name);
    buf_append_byte(out, '}');
    buf_cleanup(&link);
}

void odata_entity_write_table(const struct odata_view *view, struct str name, struct buf *out)
{
    buf_append_byte(out, '{');
    write_metadata(view, STR_LITERAL("/@Element"), out);
    write_table_members(view, name, out);
}

/* ---- lists ---- */

void odata_list_begin(struct odata_list *list, const struct odata_view *view, struct buf *out)
{
    *list = (struct odata_list){ .view = view, .out = out };
    buf_append_byte(out, '{');
    write_metadata(view, STR_EMPTY, out);
    begin_member(out, STR_LITERAL("value"));
    buf_append_byte(out, '[');
}

static void begin_element(struct odata_list *list)
{
    if (list->count++ > 0)
        buf_append_byte(list->out, ',');
    buf_append_byte(list->out, '{');
}

void odata_list_add_entity(struct odata_list *list, const struct entity *entity)
{
    begin_element(list);
    write_entity_members(list->view, entity, list->out);
}

void odata_list_add_table(struct odata_list *list, struct str name)
{
    begin_element(list);
    write_table_members(list->view, name, list->out);
}

void odata_list_end(struct odata_list *list)
{
    buf_append(list->out, STR_LITERAL("]}"));
}

/* ---- the sink of a query ---- */

static void forget_entities(struct entity_sink *sink)
{
    struct odata_writer *writer = CONTAINER_OF(sink, struct odata_writer, sink);

    writer->list.out->len = writer->begin;
    writer->list.count = 0;
}

/* Append the entity. If the body then exceeds the limit, remove the entity again. */
static bool add_entity(struct entity_sink *sink, const struct entity *entity)
{
    struct odata_writer *writer = CONTAINER_OF(sink, struct odata_writer, sink);
    size_t len = writer->list.out->len;

    odata_list_add_entity(&writer->list, entity);
    if (writer->list.count == 1 || writer->list.out->len <= LIMIT_REPLY_BYTES)
        return true;
    writer->list.out->len = len;
    writer->list.count--;
    return false;
}

void odata_writer_init(struct odata_writer *writer, const struct odata_view *view, struct buf *out)
{
    *writer = (struct odata_writer){ .sink = { forget_entities, add_entity } };
    odata_list_begin(&writer->list, view, out);
    writer->begin = out->len;
}

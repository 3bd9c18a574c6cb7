/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml_properties.c - see the header.
 */
#include "odata/xml/xml_properties.h"

#include "base/digits.h"
#include "odata/access/http_date.h"
#include "odata/odata_error.h"
#include "odata/xml/xml_document.h"

/* ---- reading ---- */

static enum status refuse_value(const char *name, struct error *err)
{
    return odata_error_refuse(err, ODATA_REFUSAL_INVALID_XML_NODE_VALUE,
        "the value of the element %s is not one of its values", name);
}

static enum status need_text(
    const struct xml_element *parent, const char *name, struct str *out, struct error *err)
{
    const struct xml_element *child = xml_document_child(parent, name);

    if (!child)
        return odata_error_refuse(
            err, ODATA_REFUSAL_MISSING_REQUIRED_XML_NODE, "the element %s is missing", name);
    *out = child->text;
    return STATUS_OK;
}

static enum status read_bool(const struct xml_element *parent, const char *name, bool *out, struct error *err)
{
    struct str text = STR_EMPTY;

    TRY(need_text(parent, name, &text, err));
    *out = str_equal(text, STR_LITERAL("true"));
    return *out || str_equal(text, STR_LITERAL("false")) ? STATUS_OK : refuse_value(name, err);
}

static enum status read_version(const struct xml_element *parent, struct str *out, struct error *err)
{
    TRY(need_text(parent, "Version", out, err));
    return out->len > 0 && out->len <= MAX_SETTINGS_VERSION_BYTES ? STATUS_OK : refuse_value("Version", err);
}

static enum status read_retention(const struct xml_element *parent, uint32_t *out, struct error *err)
{
    const struct xml_element *policy = xml_document_child(parent, "RetentionPolicy");
    bool is_enabled;
    uint64_t days;
    struct str text = STR_EMPTY;

    *out = 0;
    if (!policy)
        return odata_error_refuse(
            err, ODATA_REFUSAL_MISSING_REQUIRED_XML_NODE, "the element RetentionPolicy is missing");
    TRY(read_bool(policy, "Enabled", &is_enabled, err));
    if (!is_enabled)
        return STATUS_OK;
    TRY(need_text(policy, "Days", &text, err));
    if (!digits_parse_unsigned(text, MAX_RETENTION_DAYS, &days) || days == 0)
        return refuse_value("Days", err);
    *out = (uint32_t)days;
    return STATUS_OK;
}

static enum status read_logging(
    const struct xml_element *element, struct service_change *out, struct error *err)
{
    struct service_logging *logging = &out->to.logging;

    out->sets_logging = true;
    TRY(read_version(element, &logging->version, err));
    TRY(read_bool(element, "Delete", &logging->deletes, err));
    TRY(read_bool(element, "Read", &logging->reads, err));
    TRY(read_bool(element, "Write", &logging->writes, err));
    return read_retention(element, &logging->retention_days, err);
}

static enum status read_metrics(
    const struct xml_element *element, struct service_metrics *out, struct error *err)
{
    TRY(read_version(element, &out->version, err));
    TRY(read_bool(element, "Enabled", &out->is_enabled, err));
    if (out->is_enabled)
        TRY(read_bool(element, "IncludeAPIs", &out->includes_apis, err));
    return read_retention(element, &out->retention_days, err);
}

static enum status read_rule(const struct xml_element *element, struct cors_rule *out, struct error *err)
{
    struct str age = STR_EMPTY;
    uint64_t seconds;

    if (!str_equal(element->name, STR_LITERAL("CorsRule")))
        return odata_error_refuse(err, ODATA_REFUSAL_UNSUPPORTED_XML_NODE, "Cors holds elements CorsRule");
    TRY(need_text(element, "AllowedOrigins", &out->origins, err));
    TRY(need_text(element, "AllowedMethods", &out->methods, err));
    TRY(need_text(element, "AllowedHeaders", &out->allowed_headers, err));
    TRY(need_text(element, "ExposedHeaders", &out->exposed_headers, err));
    TRY(need_text(element, "MaxAgeInSeconds", &age, err));
    if (!digits_parse_unsigned(age, INT32_MAX, &seconds))
        return refuse_value("MaxAgeInSeconds", err);
    out->max_age_s = (uint32_t)seconds;
    return STATUS_OK;
}

static enum status read_cors(
    const struct xml_element *element, struct arena *arena, struct service_change *out, struct error *err)
{
    struct cors_rules *rules = &out->to.cors;
    struct error found = { 0 };

    out->sets_cors = true;
    rules->items = ARENA_ARRAY(arena, struct cors_rule, MAX_CORS_RULES);
    for (const struct xml_element *child = element->first; child; child = child->next) {
        if (rules->count == MAX_CORS_RULES)
            return odata_error_refuse(
                err, ODATA_REFUSAL_INVALID_XML_DOCUMENT, "there are at most %d CORS rules", MAX_CORS_RULES);
        TRY(read_rule(child, &rules->items[rules->count++], err));
    }
    if (cors_rules_check(rules, &found) == STATUS_OK)
        return STATUS_OK;
    return odata_error_refuse(err, ODATA_REFUSAL_INVALID_XML_DOCUMENT, "%s", found.message);
}

static enum status read_element(
    const struct xml_element *element, struct arena *arena, struct service_change *out, struct error *err)
{
    if (str_equal(element->name, STR_LITERAL("Logging")))
        return read_logging(element, out, err);
    if (str_equal(element->name, STR_LITERAL("Cors")))
        return read_cors(element, arena, out, err);
    if (str_equal(element->name, STR_LITERAL("HourMetrics"))) {
        out->sets_hour = true;
        return read_metrics(element, &out->to.hour, err);
    }
    if (str_equal(element->name, STR_LITERAL("MinuteMetrics"))) {
        out->sets_minute = true;
        return read_metrics(element, &out->to.minute, err);
    }
    return odata_error_refuse(err, ODATA_REFUSAL_UNSUPPORTED_XML_NODE,
        "StorageServiceProperties holds Logging, HourMetrics, MinuteMetrics and Cors");
}

enum status xml_properties_read(
    struct str body, struct arena *arena, struct service_change *out, struct error *err)
{
    struct service_change change = { 0 };
    struct xml_element *root;

    TRY(xml_document_read(body, arena, &root, err));
    if (!str_equal(root->name, STR_LITERAL("StorageServiceProperties")))
        return odata_error_refuse(
            err, ODATA_REFUSAL_INVALID_XML_DOCUMENT, "the document is StorageServiceProperties");
    for (const struct xml_element *child = root->first; child; child = child->next)
        TRY(read_element(child, arena, &change, err));
    *out = change;
    return STATUS_OK;
}

/* ---- writing ---- */

static void write_bool(struct buf *out, const char *name, bool value)
{
    buf_format(out, "<%s>%s</%s>", name, value ? "true" : "false", name);
}

static void write_text(struct buf *out, const char *name, struct str text)
{
    buf_format(out, "<%s>", name);
    xml_document_write_text(out, text);
    buf_format(out, "</%s>", name);
}

static void write_version(struct buf *out, struct str version)
{
    write_text(out, "Version", version.len > 0 ? version : STR_LITERAL("1.0"));
}

static void write_retention(struct buf *out, uint32_t days)
{
    buf_append(out, STR_LITERAL("<RetentionPolicy>"));
    write_bool(out, "Enabled", days > 0);
    if (days > 0)
        buf_format(out, "<Days>%u</Days>", days);
    buf_append(out, STR_LITERAL("</RetentionPolicy>"));
}

static void write_metrics(struct buf *out, const char *name, const struct service_metrics *metrics)
{
    buf_format(out, "<%s>", name);
    write_version(out, metrics->version);
    write_bool(out, "Enabled", metrics->is_enabled);
    if (metrics->is_enabled)
        write_bool(out, "IncludeAPIs", metrics->includes_apis);
    write_retention(out, metrics->retention_days);
    buf_format(out, "</%s>", name);
}

static void write_rule(struct buf *out, const struct cors_rule *rule)
{
    buf_append(out, STR_LITERAL("<CorsRule>"));
    write_text(out, "AllowedOrigins", rule->origins);
    write_text(out, "AllowedMethods", rule->methods);
    buf_format(out, "<MaxAgeInSeconds>%u</MaxAgeInSeconds>", rule->max_age_s);
    write_text(out, "ExposedHeaders", rule->exposed_headers);
    write_text(out, "AllowedHeaders", rule->allowed_headers);
    buf_append(out, STR_LITERAL("</CorsRule>"));
}

void xml_properties_write(const struct service_properties *properties, struct buf *out)
{
    const struct service_logging *logging = &properties->logging;

    buf_append(
        out, STR_LITERAL("<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties><Logging>"));
    write_version(out, logging->version);
    write_bool(out, "Read", logging->reads);
    write_bool(out, "Write", logging->writes);
    write_bool(out, "Delete", logging->deletes);
    write_retention(out, logging->retention_days);
    buf_append(out, STR_LITERAL("</Logging>"));
    write_metrics(out, "HourMetrics", &properties->hour);
    write_metrics(out, "MinuteMetrics", &properties->minute);
    buf_append(out, STR_LITERAL("<Cors>"));
    for (size_t i = 0; i < properties->cors.count; i++)
        write_rule(out, &properties->cors.items[i]);
    buf_append(out, STR_LITERAL("</Cors></StorageServiceProperties>"));
}

void xml_properties_write_stats(int64_t now, struct arena *arena, struct buf *out)
{
    buf_format(out,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceStats><GeoReplication><Status>live</Status>"
        "<LastSyncTime>%.*s</LastSyncTime></GeoReplication></StorageServiceStats>",
        STR_ARG(http_date_format(now, arena)));
}

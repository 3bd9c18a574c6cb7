/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml_acl.c - see the header.
 */
#include "odata/xml/xml_acl.h"

#include "domain/access/access.h"
#include "domain/limits.h"
#include "domain/properties/datetime.h"
#include "domain/ticks.h"
#include "odata/odata_error.h"
#include "odata/xml/xml_document.h"

static enum status refuse_document(const char *why, struct error *err)
{
    return odata_error_refuse(err, ODATA_REFUSAL_INVALID_XML_DOCUMENT, "%s", why);
}

/* The text of an optional element; empty if the element is missing. */
static struct str text_of(const struct xml_element *parent, const char *name)
{
    const struct xml_element *child = parent ? xml_document_child(parent, name) : NULL;

    return child ? child->text : STR_EMPTY;
}

static enum status read_time(struct str text, int64_t *out, struct error *err)
{
    int64_t seconds;
    int32_t nanos;

    if (text.len == 0)
        return STATUS_OK;
    if (datetime_parse(text, &seconds, &nanos) && ticks_from_timestamp(seconds, nanos, out) && *out > 0)
        return STATUS_OK;
    return odata_error_refuse(err, ODATA_REFUSAL_INVALID_XML_NODE_VALUE,
        "Start and Expiry are times of ISO 8601, of the years 1601 to 9999");
}

static enum status read_policy(
    const struct xml_element *element, struct arena *arena, struct access_policy *out, struct error *err)
{
    const struct xml_element *terms = xml_document_child(element, "AccessPolicy");

    if (!str_equal(element->name, STR_LITERAL("SignedIdentifier")))
        return refuse_document("SignedIdentifiers holds elements SignedIdentifier", err);
    out->id = arena_copy(arena, text_of(element, "Id"));
    TRY(read_time(text_of(terms, "Start"), &out->start, err));
    TRY(read_time(text_of(terms, "Expiry"), &out->expiry, err));
    if (!access_parse_permissions(text_of(terms, "Permission"), &out->permissions))
        return refuse_document("Permission has letters of raudit, in this order", err);
    return STATUS_OK;
}

static enum status check_policies(const struct access_policies *policies, struct error *err)
{
    struct error found = { 0 };

    if (access_policies_check(policies, &found) == STATUS_OK)
        return STATUS_OK;
    return refuse_document(found.message, err);
}

enum status xml_acl_read(struct str body, struct arena *arena, struct access_policies *out, struct error *err)
{
    struct access_policies policies = { 0 };
    struct xml_element *root;

    *out = policies;
    if (body.len == 0)
        return STATUS_OK;
    TRY(xml_document_read(body, arena, &root, err));
    if (!str_equal(root->name, STR_LITERAL("SignedIdentifiers")))
        return refuse_document("the document is SignedIdentifiers", err);
    policies.items = ARENA_ARRAY(arena, struct access_policy, LIMIT_POLICIES_PER_TABLE);
    for (const struct xml_element *child = root->first; child; child = child->next) {
        if (policies.count == LIMIT_POLICIES_PER_TABLE)
            return refuse_document("a table has at most 5 stored access policies", err);
        TRY(read_policy(child, arena, &policies.items[policies.count++], err));
    }
    TRY(check_policies(&policies, err));
    *out = policies;
    return STATUS_OK;
}

static void write_time(struct buf *out, const char *name, int64_t ticks)
{
    char text[DATETIME_BYTES];

    if (ticks == 0)
        return;
    datetime_format(ticks, DATETIME_ALL_DIGITS, text);
    buf_format(out, "<%s>%s</%s>", name, text, name);
}

void xml_acl_write(const struct access_policies *policies, struct arena *arena, struct buf *out)
{
    buf_append(out, STR_LITERAL("<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>"));
    for (size_t i = 0; i < policies->count; i++) {
        const struct access_policy *policy = &policies->items[i];
        struct str permissions = access_format_permissions(policy->permissions, arena);

        buf_append(out, STR_LITERAL("<SignedIdentifier><Id>"));
        xml_document_write_text(out, policy->id);
        buf_append(out, STR_LITERAL("</Id><AccessPolicy>"));
        write_time(out, "Start", policy->start);
        write_time(out, "Expiry", policy->expiry);
        if (permissions.len > 0)
            buf_format(out, "<Permission>%.*s</Permission>", STR_ARG(permissions));
        buf_append(out, STR_LITERAL("</AccessPolicy></SignedIdentifier>"));
    }
    buf_append(out, STR_LITERAL("</SignedIdentifiers>"));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_xml.c - any bytes as the XML body of a request: they are refused, or make a tree within its bounds; policies
 * that are read of them are written, and read back as the same ones.
 */
#include "domain/catalogue/access_policy.h"
#include "odata/xml/xml_acl.h"
#include "odata/xml/xml_document.h"
#include "odata/xml/xml_properties.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_xml;

static int count_elements(const struct xml_element *element, int depth)
{
    int count = 1;

    fuzz_require(depth <= MAX_XML_DEPTH && element->name.len > 0);
    for (const struct xml_element *child = element->first; child; child = child->next)
        count += count_elements(child, depth + 1);
    return count;
}

static void check_policies(const struct access_policies *policies, struct arena *arena)
{
    struct access_policies again;
    struct buf out;

    buf_init(&out, arena);
    xml_acl_write(policies, arena, &out);
    fuzz_require(xml_acl_read(buf_str(&out), arena, &again, NULL) == STATUS_OK);
    fuzz_require(again.count == policies->count);
    fuzz_require(str_equal(access_policies_encode(&again, arena), access_policies_encode(policies, arena)));
}

static void check_settings(const struct service_change *change, struct arena *arena)
{
    struct service_properties properties = { 0 };
    struct service_change again;
    struct buf out;

    properties = service_properties_change(&properties, change);
    buf_init(&out, arena);
    xml_properties_write(&properties, &out);
    fuzz_require(xml_properties_read(buf_str(&out), arena, &again, NULL) == STATUS_OK);
    fuzz_require(again.to.cors.count == properties.cors.count);
    fuzz_require(again.to.hour.retention_days == properties.hour.retention_days);
}

void fuzz_xml(struct str input)
{
    struct access_policies policies;
    struct service_change change;
    struct xml_element *root;
    struct arena arena;

    arena_init(&arena);
    if (xml_document_read(input, &arena, &root, NULL) == STATUS_OK)
        fuzz_require(count_elements(root, 1) <= MAX_XML_ELEMENTS);
    if (xml_acl_read(input, &arena, &policies, NULL) == STATUS_OK)
        check_policies(&policies, &arena);
    if (xml_properties_read(input, &arena, &change, NULL) == STATUS_OK)
        check_settings(&change, &arena);
    arena_cleanup(&arena);
}

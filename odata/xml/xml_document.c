/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml_document.c - see the header. The tree is built from the events of libxml2's parser, so this module
 * checks every bound: the first event that breaks a rule stops the parser.
 */
#include "odata/xml/xml_document.h"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <pthread.h>

#include "domain/text.h"
#include "odata/odata_error.h"

#define SPACE " \t\r\n"

struct reading {
    struct arena *arena;
    struct xml_element *root, *open;
    struct buf text; /* text since the last element began or ended */
    int depth, elements;
    xmlParserCtxtPtr parser;
    const char *fault; /* the rule that was broken; NULL: none */
};

static void stop(struct reading *reading, const char *fault)
{
    if (!reading->fault)
        reading->fault = fault;
    xmlStopParser(reading->parser);
}

/* ---- events ---- */

static void begin_element(void *context, const xmlChar *name, const xmlChar **attributes)
{
    struct reading *reading = context;
    struct xml_element *element;

    (void)attributes;
    if (++reading->elements > MAX_XML_ELEMENTS || ++reading->depth > MAX_XML_DEPTH) {
        stop(reading, "it has too many elements, or they are nested too deeply");
        return;
    }
    reading->text.len = 0;
    element = ARENA_NEW(reading->arena, struct xml_element);
    element->name = arena_copy(reading->arena, str_behind_last(str_of((const char *)name), ':'));
    element->parent = reading->open;
    if (!reading->root)
        reading->root = element;
    else if (!reading->open->first)
        reading->open->first = element;
    else
        reading->open->last->next = element;
    if (reading->open)
        reading->open->last = element;
    reading->open = element;
}

static void end_element(void *context, const xmlChar *name)
{
    struct reading *reading = context;

    (void)name;
    if (!reading->open)
        return;
    if (!reading->open->first)
        reading->open->text = arena_copy(reading->arena, str_trim(buf_str(&reading->text), SPACE));
    reading->text.len = 0;
    reading->open = reading->open->parent;
    reading->depth--;
}

static void take_text(void *context, const xmlChar *text, int len)
{
    struct reading *reading = context;

    if (reading->open)
        buf_append(&reading->text, str_of_bytes(text, (size_t)len));
}

static void refuse_type(void *context, const xmlChar *name, const xmlChar *id, const xmlChar *place)
{
    (void)name, (void)id, (void)place;
    stop(context, "it declares a document type");
}

static void refuse_reference(void *context, const xmlChar *name)
{
    (void)name;
    stop(context, "it refers to an entity");
}

static xmlEntityPtr find_entity(void *context, const xmlChar *name)
{
    (void)context;
    return xmlGetPredefinedEntity(name);
}

/* ---- reading ---- */

static const xmlSAXHandler events = {
    .startElement = begin_element,
    .endElement = end_element,
    .characters = take_text,
    .ignorableWhitespace = take_text,
    .cdataBlock = take_text,
    .internalSubset = refuse_type,
    .reference = refuse_reference,
    .getEntity = find_entity,
};

static void init_library(void)
{
    xmlInitParser();
}

static enum status refuse_document(const char *why, struct error *err)
{
    return odata_error_refuse(
        err, ODATA_REFUSAL_INVALID_XML_DOCUMENT, "the XML document is refused: %s", why);
}

static bool run_parser(struct reading *reading, struct str body)
{
    bool is_well_formed;

    reading->parser = xmlCreateMemoryParserCtxt(body.data, (int)body.len);
    if (!reading->parser)
        return false;
    *reading->parser->sax = events;
    reading->parser->userData = reading;
    xmlCtxtUseOptions(reading->parser,
        XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_IGNORE_ENC | XML_PARSE_NOCDATA);
    xmlParseDocument(reading->parser);
    is_well_formed = reading->parser->wellFormed == 1;
    xmlFreeDoc(reading->parser->myDoc);
    reading->parser->myDoc = NULL;
    xmlFreeParserCtxt(reading->parser);
    return is_well_formed;
}

enum status xml_document_read(
    struct str body, struct arena *arena, struct xml_element **root, struct error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct reading reading = { .arena = arena };
    bool is_well_formed;

    pthread_once(&once, init_library);
    if (body.len == 0 || body.len > MAX_XML_BYTES)
        return refuse_document("it is empty, or larger than 64 KiB", err);
    if (!text_check(body, NULL, NULL))
        return refuse_document("it is not UTF-8", err);
    buf_init(&reading.text, arena);
    is_well_formed = run_parser(&reading, body);
    if (reading.fault)
        return refuse_document(reading.fault, err);
    if (!is_well_formed || !reading.root)
        return refuse_document("it is not well formed", err);
    *root = reading.root;
    return STATUS_OK;
}

const struct xml_element *xml_document_child(const struct xml_element *parent, const char *name)
{
    for (const struct xml_element *child = parent->first; child; child = child->next)
        if (str_equal(child->name, str_of(name)))
            return child;
    return NULL;
}

/* ---- writing ---- */

static const char *reference_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&apos;";
    default:
        return NULL;
    }
}

void xml_document_write_text(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char *reference = reference_of(text.data[i]);

        if (reference)
            buf_append(out, str_of(reference));
        else if ((unsigned char)text.data[i] >= ' ' || memchr(SPACE, text.data[i], sizeof(SPACE) - 1))
            buf_append_byte(out, (uint8_t)text.data[i]);
    }
}

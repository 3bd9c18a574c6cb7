/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.c - see the header.
 */
#include "client/doctor/findings.h"

#include <string.h>

#include "api/json/json_forms.h"
#include "base/buf.h"

static const char *const severity_names[SEVERITIES] = {
    [SEVERITY_OK] = "ok",
    [SEVERITY_NOTE] = "note",
    [SEVERITY_WARNING] = "warning",
    [SEVERITY_PROBLEM] = "problem",
};

void findings_init(struct findings *findings, struct arena *arena)
{
    *findings = (struct findings){ .arena = arena };
}

void findings_add(struct findings *findings, const struct finding *finding)
{
    struct arena *arena = findings->arena;

    if (findings->count == findings->room) {
        struct finding *before = findings->items;

        findings->room = findings->room * 2 + 16;
        findings->items = ARENA_ARRAY(arena, struct finding, findings->room);
        if (findings->count > 0)
            memcpy(findings->items, before, findings->count * sizeof(*before));
    }
    findings->items[findings->count++] = (struct finding){
        .severity = finding->severity,
        .part = arena_copy(arena, finding->part),
        .what = arena_copy(arena, finding->what),
        .why = arena_copy(arena, finding->why),
        .remedy = arena_copy(arena, finding->remedy),
    };
}

void findings_add_ok(struct findings *findings, const char *part, const char *what)
{
    findings_add(findings, &(struct finding){ .part = str_of(part), .what = str_of(what) });
}

enum severity findings_worst(const struct findings *findings)
{
    enum severity worst = SEVERITY_OK;

    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].severity > worst)
            worst = findings->items[i].severity;
    return worst;
}

/* ---- text ---- */

/*
 * The length of the first line: the longest part of at most `width` that ends before a space, or the first
 * word.
 */
static size_t line_length(struct str text, size_t width)
{
    size_t end = 0;

    for (size_t at = 0; at <= text.len; at++) {
        if (at < text.len && text.data[at] != ' ')
            continue;
        if (end > 0 && at > width)
            break;
        end = at;
    }
    return end;
}

/* Print the label and the text; further lines are indented to where the text begins. */
static void print_wrapped(const char *label, struct str text, int width, FILE *out)
{
    size_t indent = strlen(label), room = (size_t)width - indent;

    while (text.len > 0) {
        size_t len = line_length(text, room);

        fprintf(out, "%*s%.*s\n", (int)indent, label, (int)len, text.data);
        text = str_from(text, len + 1);
        label = "";
    }
}

void findings_print(const struct findings *findings, bool all, int width, FILE *out)
{
    char label[32];

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        char text[512];

        if (finding->severity == SEVERITY_OK && !all)
            continue;
        snprintf(label, sizeof(label), "%-8s ", severity_names[finding->severity]);
        snprintf(text, sizeof(text), "%.*s: %.*s", STR_ARG(finding->part), STR_ARG(finding->what));
        print_wrapped(label, str_of(text), width, out);
        print_wrapped("    why     ", finding->why, width, out);
        print_wrapped("    remedy  ", finding->remedy, width, out);
    }
}

/* ---- JSON ---- */

static void append_member(struct buf *out, const char *before, const char *name, struct str value)
{
    buf_format(out, "%s      \"%s\": ", before, name);
    json_forms_write_text(out, value);
}

static void append_finding(struct buf *out, const struct finding *finding)
{
    append_member(out, "    {\n", "severity", str_of(severity_names[finding->severity]));
    append_member(out, ",\n", "part", finding->part);
    append_member(out, ",\n", "what", finding->what);
    append_member(out, ",\n", "why", finding->why);
    append_member(out, ",\n", "remedy", finding->remedy);
    buf_format(out, "\n    }");
}

void findings_print_json(const struct findings *findings, FILE *out)
{
    struct buf text;

    buf_init(&text, findings->arena);
    buf_format(
        &text, "{\n  \"worst\": \"%s\",\n  \"findings\": [\n", severity_names[findings_worst(findings)]);
    for (size_t i = 0; i < findings->count; i++) {
        if (i > 0)
            buf_format(&text, ",\n");
        append_finding(&text, &findings->items[i]);
    }
    buf_format(&text, "\n  ]\n}\n");
    fwrite(buf_str(&text).data, 1, buf_str(&text).len, out);
}

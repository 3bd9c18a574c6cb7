/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_arguments.c - see the header.
 */
#include "client/copy_arguments.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"

static bool complain(const struct arguments *arguments, const char *text)
{
    fprintf(stderr, "tavola %s: %s\n", arguments->command, text);
    return false;
}

/* The text of an option, which is divided in place: it is a word of argv. */
static char *text_of(const struct arguments *arguments, const char *option)
{
    return (char *)(uintptr_t)arguments_value(arguments, option);
}

static struct tavola_copy_key key_of(const char *part)
{
    return *part == '=' ? (struct tavola_copy_key){ .literal = part + 1 }
                        : (struct tavola_copy_key){ .property = part };
}

/*
 * Divide "PART,PART". A property has no comma in its name, a text may have some: so the last comma divides if
 * the first part is a text.
 */
static bool read_named_by(const struct arguments *arguments, struct tavola_copies *out)
{
    char *text = text_of(arguments, "--named-by");
    char *comma = !text ? NULL : *text == '=' ? strrchr(text, ',') : strchr(text, ',');

    if (!comma || comma == text || comma[1] == '\0')
        return complain(arguments,
            "--named-by PART,PART says where the partition key and the row key of the source are: a "
            "property, or =TEXT");
    *comma = '\0';
    out->partition_key = key_of(text);
    out->row_key = key_of(comma + 1);
    return true;
}

static bool read_properties(const struct arguments *arguments, struct copy_arguments *out)
{
    char *text = text_of(arguments, "--copy");
    size_t count = 0;

    for (char *rest = text, *pair; (pair = strsep(&rest, ",")) != NULL;) {
        char *equals = strchr(pair, '=');

        if (count == COPY_ARGUMENTS_MAX || *pair == '\0' || *pair == '=' || (equals && equals[1] == '\0'))
            return complain(arguments, "--copy NAME=PROPERTY,... names up to 64 copies, each with the "
                                       "property of the source that it is a copy of");
        if (equals)
            *equals = '\0';
        out->properties[count++] = (struct tavola_copied){ pair, equals ? equals + 1 : pair };
    }
    out->properties[count] = (struct tavola_copied){ NULL, NULL };
    out->copies.properties = out->properties;
    return true;
}

bool copy_arguments_read(const struct arguments *arguments, struct copy_arguments *out, bool *declared)
{
    static const char *const options[] = { "--named-by", "--copy", "--keep", "--version-to" };
    const char *source = arguments_value(arguments, "--copy-from");

    *declared = source != NULL;
    for (size_t i = 0; !source && i < ARRAY_LEN(options); i++)
        if (arguments_value(arguments, options[i]))
            return complain(arguments, "a copy rule needs --copy-from TABLE, the table of the sources");
    if (!source)
        return true;
    out->copies = (struct tavola_copies){ .source_table = source,
        .version_property = arguments_value(arguments, "--version-to"),
        .keep = arguments_value(arguments, "--keep") != NULL };
    if (!arguments_value(arguments, "--copy"))
        return complain(arguments, "a copy rule needs --copy NAME=PROPERTY,...: what is copied");
    return read_named_by(arguments, &out->copies) && read_properties(arguments, out);
}

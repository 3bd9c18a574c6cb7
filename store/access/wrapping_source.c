/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrapping_source.c - see the header.
 */
#include "store/access/wrapping_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { FILE_BYTES = 1024 };

static enum status parse(const char *source, struct str text, struct wrapping_keys *out, struct error *err)
{
    struct error why = { 0 };

    if (key_wrap_parse(text, out, &why) == STATUS_OK)
        return STATUS_OK;
    return error_set(err, STATUS_INVALID, "%s: %s", source, why.message);
}

static enum status read_file(const char *path, struct wrapping_keys *out, struct error *err)
{
    char text[FILE_BYTES + 1];
    FILE *file = fopen(path, "re");
    enum status status;
    size_t len;

    if (!file)
        return error_set(err, STATUS_INVALID, "TAVOLA_WRAPPING_KEY_FILE: %s: %s", path, strerror(errno));
    len = fread(text, 1, sizeof(text), file);
    fclose(file);
    status = parse("TAVOLA_WRAPPING_KEY_FILE", str_of_bytes(text, len), out, err);
    explicit_bzero(text, sizeof(text));
    return status;
}

enum status wrapping_source_read(
    const char *text, const char *path, struct wrapping_keys *out, struct error *err)
{
    if (text && path)
        return error_set(err, STATUS_INVALID,
            "TAVOLA_WRAPPING_KEY and TAVOLA_WRAPPING_KEY_FILE are set both: unset one of them");
    if (path)
        return read_file(path, out, err);
    if (text)
        return parse("TAVOLA_WRAPPING_KEY", str_of(text), out, err);
    *out = (struct wrapping_keys){ .count = 0 };
    return STATUS_OK;
}

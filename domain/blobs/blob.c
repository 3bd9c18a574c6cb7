/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob.c - see the header.
 */
#include "domain/blobs/blob.h"

#include <string.h>

#include "base/digits.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/text.h"

enum { ETAG_LENGTH = 2 + 2 * BLOB_ID_BYTES };

static enum status refuse_name(const char *what, size_t position, struct error *err)
{
    reason_set(err, REASON_INVALID_INPUT,
        "a blob's name has parts separated by slashes, without control characters: byte %zu %s", position,
        what);
    error_add_meta_int(err, "position", (int64_t)position);
    return STATUS_INVALID;
}

static enum status refuse_length(struct str name, struct error *err)
{
    reason_set(err, REASON_INVALID_INPUT, "a blob's name has 1 to %d bytes of UTF-8, this one has %zu",
        LIMIT_BLOB_NAME_BYTES, name.len);
    error_add_meta_int(err, "limit", LIMIT_BLOB_NAME_BYTES);
    error_add_meta_int(err, "actual", (int64_t)name.len);
    return STATUS_INVALID;
}

static enum status check_characters(struct str name, struct error *err)
{
    size_t bad;

    if (!text_check(name, NULL, &bad))
        return refuse_name("is not UTF-8", bad, err);
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.data[i] < ' ' || name.data[i] == 0x7F)
            return refuse_name("is a control character", i, err);
    return STATUS_OK;
}

/* ends: the last part ends here, too; false: the name may go on behind it. */
static enum status check_parts(struct str name, bool ends, struct error *err)
{
    size_t begin = 0;

    for (size_t i = 0; i <= name.len; i++) {
        struct str part = str_of_bytes(name.data + begin, i - begin);

        if (i == name.len && !ends)
            return STATUS_OK;
        if (i < name.len && name.data[i] != '/')
            continue;
        if (part.len == 0)
            return refuse_name("ends an empty part", i, err);
        if (str_equal(part, STR_LITERAL(".")) || str_equal(part, STR_LITERAL("..")))
            return refuse_name("begins a part that is \".\" or \"..\"", begin, err);
        begin = i + 1;
    }
    return STATUS_OK;
}

enum status blob_name_check(struct str name, struct error *err)
{
    if (name.len == 0 || name.len > LIMIT_BLOB_NAME_BYTES)
        return refuse_length(name, err);
    TRY(check_characters(name, err));
    return check_parts(name, true, err);
}

enum status blob_prefix_check(struct str prefix, struct error *err)
{
    if (prefix.len > LIMIT_BLOB_NAME_BYTES)
        return refuse_length(prefix, err);
    TRY(check_characters(prefix, err));
    return check_parts(prefix, false, err);
}

enum status blob_content_type_check(struct str content_type, struct error *err)
{
    bool fits = content_type.len <= LIMIT_BLOB_TYPE_BYTES;

    for (size_t i = 0; fits && i < content_type.len; i++)
        fits = content_type.data[i] >= ' ' && content_type.data[i] <= '~';
    if (fits)
        return STATUS_OK;
    return reason_set(err, REASON_INVALID_INPUT, "content_type has up to %d printable ASCII characters",
        LIMIT_BLOB_TYPE_BYTES);
}

struct str blob_etag_format(const struct blob_id *id, struct arena *arena)
{
    char *text = arena_alloc(arena, ETAG_LENGTH);

    text[0] = text[ETAG_LENGTH - 1] = '"';
    digits_encode_hex(blob_id_str(id), text + 1);
    return str_of_bytes(text, ETAG_LENGTH);
}

bool blob_etag_parse(struct str text, struct blob_id *out)
{
    struct str hex;

    if (text.len != ETAG_LENGTH || text.data[0] != '"' || text.data[ETAG_LENGTH - 1] != '"')
        return false;
    hex = str_of_bytes(text.data + 1, ETAG_LENGTH - 2);
    return digits_are_lower_hex(hex) && digits_decode_hex(hex, (char *)out->bytes);
}

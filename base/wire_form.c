/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_form.c - see the header. A message is written behind room for its length, which is known
 * only afterwards; moving the message by a few bytes is cheaper than a second buffer.
 */
#include "base/wire_form.h"

#include <assert.h>
#include <string.h>

#include "base/wire.h"

static const void *member_of(const void *item, size_t offset)
{
    return (const char *)item + offset;
}

static void *member_to_set(void *item, size_t offset)
{
    return (char *)item + offset;
}

/* The number of items in a field of type MESSAGES or TEXTS. */
static size_t item_count(const struct wire_form_field *field, const void *item)
{
    return *(const size_t *)member_of(item, field->count_offset);
}

static bool is_text(const struct wire_form_field *field)
{
    return field->type == WIRE_FORM_TEXT;
}

/* ---- writing ---- */

static void write_message(
    struct buf *out, const struct wire_form_field *field, const struct wire_form *form, const void *item)
{
    size_t begin, len, length_bytes;

    wire_write_tag(out, field->number, WIRE_BYTES);
    begin = out->len;
    wire_form_write(out, form, item);
    len = out->len - begin;
    length_bytes = wire_varint_bytes(len);
    buf_extend(out, length_bytes);
    memmove(out->data + begin + length_bytes, out->data + begin, len);
    wire_put_varint(out->data + begin, len);
}

static void write_messages(struct buf *out, const struct wire_form_field *field, const void *item)
{
    const char *items = *(char *const *)member_of(item, field->offset);

    for (size_t i = 0; i < item_count(field, item); i++)
        write_message(out, field, field->form, items + i * field->form->item_bytes);
}

static void write_texts(struct buf *out, const struct wire_form_field *field, const void *item)
{
    const struct str *texts = *(struct str *const *)member_of(item, field->offset);

    for (size_t i = 0; i < item_count(field, item); i++)
        wire_write_bytes(out, field->number, texts[i]);
}

/* The varint of a field with a number. */
static uint64_t scalar_of(const struct wire_form_field *field, const void *item)
{
    const void *member = member_of(item, field->offset);

    switch (field->type) {
    case WIRE_FORM_ZIGZAG32:
        return wire_zigzag(*(const int32_t *)member);
    case WIRE_FORM_ZIGZAG64:
        return wire_zigzag(*(const int64_t *)member);
    case WIRE_FORM_INT64:
        return (uint64_t) * (const int64_t *)member;
    case WIRE_FORM_UINT32:
        return *(const uint32_t *)member;
    case WIRE_FORM_BOOL:
        return *(const bool *)member;
    case WIRE_FORM_TEXT:
    case WIRE_FORM_MESSAGE:
    case WIRE_FORM_MESSAGES:
    case WIRE_FORM_TEXTS:
        break;
    }
    assert(!"a field with a scalar is a number");
    return 0;
}

static void write_text(struct buf *out, const struct wire_form_field *field, const void *item)
{
    struct str text = *(const struct str *)member_of(item, field->offset);

    if (text.len > 0 || !field->optional)
        wire_write_bytes(out, field->number, text);
}

static void write_scalar(struct buf *out, const struct wire_form_field *field, const void *item)
{
    uint64_t scalar = scalar_of(field, item);

    if (scalar != 0 || !field->optional)
        wire_write_scalar(out, field->number, scalar);
}

static void write_field(struct buf *out, const struct wire_form_field *field, const void *item)
{
    const void *message;

    switch (field->type) {
    case WIRE_FORM_TEXT:
        write_text(out, field, item);
        return;
    case WIRE_FORM_MESSAGE:
        message = *(const void *const *)member_of(item, field->offset);
        if (message)
            write_message(out, field, field->form, message);
        return;
    case WIRE_FORM_MESSAGES:
        write_messages(out, field, item);
        return;
    case WIRE_FORM_TEXTS:
        write_texts(out, field, item);
        return;
    case WIRE_FORM_ZIGZAG32:
    case WIRE_FORM_ZIGZAG64:
    case WIRE_FORM_INT64:
    case WIRE_FORM_UINT32:
    case WIRE_FORM_BOOL:
        write_scalar(out, field, item);
        return;
    }
}

void wire_form_write(struct buf *out, const struct wire_form *form, const void *item)
{
    for (size_t i = 0; i < form->count; i++)
        write_field(out, &form->fields[i], item);
}

void wire_form_write_packed(struct buf *out, const struct wire_form *form, const void *item)
{
    for (size_t i = 0; i < form->count; i++) {
        const struct wire_form_field *field = &form->fields[i];

        if (is_text(field)) {
            struct str text = *(const struct str *)member_of(item, field->offset);

            wire_write_varint(out, text.len);
            buf_append(out, text);
        } else {
            wire_write_varint(out, scalar_of(field, item));
        }
    }
}

/* ---- reading ---- */

static bool is_within(const struct wire_form_field *field, uint64_t value, uint64_t no_bound)
{
    return value >= field->min && value <= (field->max ? field->max : no_bound);
}

static bool set_zigzag32(int64_t value, int32_t *out)
{
    *out = (int32_t)value;
    return value >= INT32_MIN && value <= INT32_MAX;
}

/* false: the value is out of the field's range. */
static bool set_scalar(const struct wire_form_field *field, uint64_t scalar, void *item)
{
    void *member = member_to_set(item, field->offset);

    switch (field->type) {
    case WIRE_FORM_ZIGZAG32:
        return set_zigzag32(wire_unzigzag(scalar), member);
    case WIRE_FORM_ZIGZAG64:
        *(int64_t *)member = wire_unzigzag(scalar);
        return true;
    case WIRE_FORM_INT64:
        *(int64_t *)member = (int64_t)scalar;
        return true;
    case WIRE_FORM_UINT32:
        *(uint32_t *)member = (uint32_t)scalar;
        return is_within(field, scalar, UINT32_MAX);
    case WIRE_FORM_BOOL:
        *(bool *)member = scalar != 0;
        return true;
    case WIRE_FORM_TEXT:
    case WIRE_FORM_MESSAGE:
    case WIRE_FORM_MESSAGES:
    case WIRE_FORM_TEXTS:
        break;
    }
    return false;
}

/*
 * Make room for one more item of the field's array, whose size doubles if its count is a power of
 * two. NULL: too many.
 */
static void *add_item(const struct wire_form_field *field, size_t item_bytes, struct arena *arena, void *item)
{
    char **items = member_to_set(item, field->offset);
    size_t *count = member_to_set(item, field->count_offset);

    if (!is_within(field, *count + 1, SIZE_MAX))
        return NULL;
    if ((*count & (*count - 1)) == 0) {
        char *grown = arena_calloc(arena, *count > 0 ? 2 * *count : 1, item_bytes);

        if (*count > 0)
            memcpy(grown, *items, *count * item_bytes);
        *items = grown;
    }
    return *items + (*count)++ * item_bytes;
}

static bool set_bytes(const struct wire_form_field *field, struct str bytes, struct arena *arena, void *item)
{
    void *message;
    struct str *text;

    switch (field->type) {
    case WIRE_FORM_TEXT:
        *(struct str *)member_to_set(item, field->offset) = bytes;
        return true;
    case WIRE_FORM_MESSAGE:
        message = *(void **)member_to_set(item, field->offset) =
            arena_calloc(arena, 1, field->form->item_bytes);
        return wire_form_read(bytes, field->form, arena, message);
    case WIRE_FORM_MESSAGES:
        message = add_item(field, field->form->item_bytes, arena, item);
        return message && wire_form_read(bytes, field->form, arena, message);
    case WIRE_FORM_TEXTS:
        text = add_item(field, sizeof(*text), arena, item);
        if (text)
            *text = bytes;
        return text != NULL;
    case WIRE_FORM_ZIGZAG32:
    case WIRE_FORM_ZIGZAG64:
    case WIRE_FORM_INT64:
    case WIRE_FORM_UINT32:
    case WIRE_FORM_BOOL:
        break;
    }
    return false;
}

static void clear_field(const struct wire_form_field *field, void *item)
{
    void *member = member_to_set(item, field->offset);

    switch (field->type) {
    case WIRE_FORM_TEXT:
        *(struct str *)member = STR_EMPTY;
        return;
    case WIRE_FORM_MESSAGES:
    case WIRE_FORM_TEXTS:
        *(size_t *)member_to_set(item, field->count_offset) = 0;
        *(void **)member = NULL;
        return;
    case WIRE_FORM_MESSAGE:
        *(void **)member = NULL;
        return;
    case WIRE_FORM_UINT32:
        *(uint32_t *)member = 0;
        return;
    case WIRE_FORM_ZIGZAG32:
    case WIRE_FORM_ZIGZAG64:
    case WIRE_FORM_INT64:
    case WIRE_FORM_BOOL:
        (void)set_scalar(field, 0, item);
        return;
    }
}

static bool is_there(const struct wire_form_field *field, const void *item)
{
    switch (field->type) {
    case WIRE_FORM_TEXT:
        return ((const struct str *)member_of(item, field->offset))->len > 0;
    case WIRE_FORM_MESSAGES:
    case WIRE_FORM_TEXTS:
        return item_count(field, item) > 0;
    case WIRE_FORM_MESSAGE:
        return *(const void *const *)member_of(item, field->offset) != NULL;
    case WIRE_FORM_ZIGZAG32:
    case WIRE_FORM_ZIGZAG64:
    case WIRE_FORM_INT64:
    case WIRE_FORM_UINT32:
    case WIRE_FORM_BOOL:
        break;
    }
    return scalar_of(field, item) != 0;
}

static const struct wire_form_field *find_field(const struct wire_form *form, uint32_t number)
{
    for (size_t i = 0; i < form->count; i++)
        if (form->fields[i].number == number)
            return &form->fields[i];
    return NULL;
}

static bool read_field(
    const struct wire_form *form, const struct wire_field *read, struct arena *arena, void *item)
{
    const struct wire_form_field *field = find_field(form, read->number);

    if (!field)
        return form->skips_unknown;
    if (read->type == WIRE_BYTES)
        return set_bytes(field, read->bytes, arena, item);
    return read->type == WIRE_VARINT && set_scalar(field, read->scalar, item);
}

bool wire_form_read(struct str bytes, const struct wire_form *form, struct arena *arena, void *item)
{
    struct wire_field read;
    enum wire_result result;

    for (size_t i = 0; i < form->count; i++)
        clear_field(&form->fields[i], item);
    while ((result = wire_read_field(&bytes, &read)) == WIRE_FIELD) {
        if (!read_field(form, &read, arena, item))
            return false;
    }
    for (size_t i = 0; i < form->count; i++)
        if (form->fields[i].required && !is_there(&form->fields[i], item))
            return false;
    return result == WIRE_END;
}

bool wire_form_read_packed(struct str *rest, const struct wire_form *form, void *item)
{
    for (size_t i = 0; i < form->count; i++) {
        const struct wire_form_field *field = &form->fields[i];
        uint64_t number;

        if (!wire_read_varint(rest, &number))
            return false;
        if (!is_text(field)) {
            if (!set_scalar(field, number, item))
                return false;
            continue;
        }
        if (number > rest->len)
            return false;
        *(struct str *)member_to_set(item, field->offset) = str_of_bytes(rest->data, (size_t)number);
        *rest = str_from(*rest, (size_t)number);
    }
    return true;
}

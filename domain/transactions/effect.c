/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effect.c - see the header.
 */
#include "domain/transactions/effect.h"

#include <assert.h>
#include <openssl/evp.h>

#include "base/digits.h"
#include "base/wire_form.h"
#include "domain/blobs/blob_plan.h"
#include "domain/limits.h"
#include "domain/transactions/call_url.h"
#include "domain/transactions/file_path.h"

enum { VERSION = 1, DIGEST_BYTES = 32 };

#define NOTE(number, type, member, ...) WIRE_FORM_FIELD(number, type, struct effect_note, member, __VA_ARGS__)

static const struct wire_form_field note_fields[] = {
    NOTE(1, ZIGZAG32, step),
    NOTE(2, TEXT, content, .optional = true),
    NOTE(3, ZIGZAG64, entity.table_id, .optional = true),
    NOTE(4, ZIGZAG64, entity.version, .optional = true),
    NOTE(5, ZIGZAG64, offset, .optional = true),
    NOTE(6, ZIGZAG64, min_size, .optional = true),
};
static const struct wire_form note_form = WIRE_FORM(note_fields, struct effect_note);

static const char *blob_problem(const struct step *step)
{
    struct blob_condition condition;
    struct error ignored;

    if (blob_name_check(step->path, &ignored) != STATUS_OK)
        return "has no valid name of a blob: 1 to 1024 bytes of UTF-8, parts between slashes, no control "
               "characters";
    if (blob_content_type_check(step->content_type, &ignored) != STATUS_OK)
        return "has no valid content_type: up to 255 printable ASCII characters";
    if (blob_condition_parse(step->if_match, step->if_absent, &condition, &ignored) != STATUS_OK)
        return "has no valid condition: if_match is the ETag of a blob or *, and goes without if_absent";
    return NULL;
}

static const char *call_problem(const struct step *step)
{
    struct call_address ignored;
    struct error err;

    if (!call_url_read(step->path, &ignored))
        return "has no valid url: " CALL_URL_ALLOWED;
    if (blob_content_type_check(step->content_type, &err) != STATUS_OK)
        return "has no valid content_type: up to 255 printable ASCII characters";
    return NULL;
}

/* What is wrong with the place of the effect. */
static const char *place_problem(const struct step *step)
{
    if (transaction_step_is_blob(step))
        return blob_problem(step);
    if (step->kind == STEP_HTTP_CALL)
        return call_problem(step);
    return file_path_is_valid(step->path) ? NULL : "has no valid path: " FILE_PATH_ALLOWED;
}

const char *effect_problem(const struct step *step)
{
    bool has_entity = transaction_step_has_entity(step);
    const char *problem = place_problem(step);

    if (problem)
        return problem;
    if (step->content.len > LIMIT_EFFECT_BYTES)
        return "has more than 1 MiB of data";
    if (!has_entity && condition_is_set(&step->condition))
        return "has a precondition, but no entity that it could be about";
    if (!has_entity && step->deletes_entity)
        return "has delete_entity, but no entity";
    return NULL;
}

struct str effect_content(const struct effect *effect)
{
    return transaction_step_has_entity(&effect->step) ? effect->note.content : effect->step.content;
}

struct str effect_digest(struct str bytes, struct arena *arena)
{
    uint8_t *digest = arena_alloc(arena, DIGEST_BYTES);
    bool done = EVP_Digest(bytes.data, bytes.len, digest, NULL, EVP_sha256(), NULL) == 1;

    assert(done && "SHA-256 is always there");
    (void)done;
    return str_of_bytes(digest, DIGEST_BYTES);
}

struct str effect_idempotency_key(const struct effect *effect, struct arena *arena)
{
    struct str name = arena_format(arena, "%.*s\n%.*s\n%d", STR_ARG(effect->account),
        STR_ARG(effect->transaction_id), (int)effect->note.step);
    char *text = arena_alloc(arena, 2 * DIGEST_BYTES);

    digits_encode_hex(effect_digest(name, arena), text);
    return str_of_bytes(text, 2 * DIGEST_BYTES);
}

struct effect effect_copy(const struct effect *effect, struct arena *arena)
{
    struct effect copy = { .account = arena_copy(arena, effect->account),
        .transaction_id = arena_copy(arena, effect->transaction_id),
        .step = { .kind = effect->step.kind,
            .table = arena_copy(arena, effect->step.table),
            .path = arena_copy(arena, effect->step.path),
            .content = arena_copy(arena, effect->step.content),
            .deletes_entity = effect->step.deletes_entity,
            .content_type = arena_copy(arena, effect->step.content_type),
            .uses_put = effect->step.uses_put },
        .note = effect->note };

    copy.note.content = arena_copy(arena, effect->note.content);
    return copy;
}

struct str effect_note_encode(const struct effect_note *note, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    buf_append_byte(&out, VERSION);
    wire_form_write(&out, &note_form, note);
    return buf_str(&out);
}

bool effect_note_decode(struct str bytes, struct arena *arena, struct effect_note *out)
{
    *out = (struct effect_note){ 0 }; /* the bytes have no hash of the key: 0 is equal to any */
    return bytes.len > 0 && bytes.data[0] == VERSION &&
           wire_form_read(str_from(bytes, 1), &note_form, arena, out);
}

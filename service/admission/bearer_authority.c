/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bearer_authority.c - see the header. A file that cannot be used after a change leaves the keys as they
 * are, like the certificates: its writer may be about to replace it once more.
 */
#include "service/admission/bearer_authority.h"

#include "base/clock.h"
#include "base/log.h"

static enum status check_options(const struct bearer_options *options, struct error *err)
{
    bool checks = options->signatures == BEARER_SIGNATURES_CHECKED;

    if (!checks && !options->is_local)
        return error_set(err, STATUS_INVALID,
            "TAVOLA_JWT_SIGNATURES is unchecked, which is allowed only where TAVOLA_LISTEN and "
            "TAVOLA_HTTP_LISTEN are loopback "
            "addresses or Unix sockets: anybody could write a token");
    if (!checks && options->keys_path)
        return error_set(err, STATUS_INVALID,
            "TAVOLA_JWT_KEYS is set, but TAVOLA_JWT_SIGNATURES is unchecked: set one of them");
    if (checks && options->keys_path && (!options->issuer || !options->audience))
        return error_set(err, STATUS_INVALID,
            "TAVOLA_JWT_KEYS needs TAVOLA_JWT_ISSUER and TAVOLA_JWT_AUDIENCE: tokens that the issuer has "
            "made for others are "
            "refused by them");
    if (checks && !options->keys_path && (options->issuer || options->audience))
        return error_set(err, STATUS_INVALID,
            "TAVOLA_JWT_ISSUER and TAVOLA_JWT_AUDIENCE are set, but TAVOLA_JWT_KEYS is not");
    return STATUS_OK;
}

static enum status read_keys(struct pem_file *file, struct web_keys **out, struct error *err)
{
    struct error why = { 0 };

    if (pem_file_open_text(file->path, file, &why) == STATUS_OK &&
        web_keys_parse(str_of(file->text), out, &why) == STATUS_OK)
        return STATUS_OK;
    return error_set(err, STATUS_INVALID, "TAVOLA_JWT_KEYS: %s: %s", file->path, why.message);
}

enum status bearer_authority_open(
    const struct bearer_options *options, struct bearer_authority *out, struct error *err)
{
    *out = (struct bearer_authority){
        .is_on = options->keys_path || options->signatures == BEARER_SIGNATURES_UNCHECKED,
        .checks_signatures = options->signatures == BEARER_SIGNATURES_CHECKED,
        .rules = { options->issuer ? str_of(options->issuer) : STR_EMPTY,
            options->audience ? str_of(options->audience) : STR_EMPTY },
        .file = { .path = options->keys_path },
    };
    TRY(check_options(options, err));
    return options->keys_path ? read_keys(&out->file, &out->keys, err) : STATUS_OK;
}

void bearer_authority_close(struct bearer_authority *authority)
{
    pem_file_cleanup(&authority->file);
    web_keys_free(authority->keys);
    *authority = (struct bearer_authority){ 0 };
}

struct web_keys *bearer_authority_look(struct bearer_authority *authority)
{
    struct web_keys *fresh = NULL;
    struct error err;

    if (!pem_file_has_changed(&authority->file))
        return NULL;
    pem_file_cleanup(&authority->file);
    if (read_keys(&authority->file, &fresh, &err) == STATUS_OK)
        log_event(LOG_INFO, "jwt_keys_reloaded", log_text("path", authority->file.path));
    else
        log_event(
            LOG_WARN, "jwt_keys_kept", log_text("path", authority->file.path), log_text("why", err.message));
    return fresh;
}

bool bearer_authority_read(
    const struct bearer_authority *authority, struct str text, struct arena *arena, struct credential *out)
{
    return authority->is_on && web_token_read(text, &authority->rules, clock_ticks(), arena, out);
}

bool bearer_authority_verify(const struct bearer_authority *authority, struct str text)
{
    struct web_token_header header;
    ARENA_SCOPE arena;

    arena_init(&arena);
    if (!authority->checks_signatures)
        return true;
    return authority->keys && web_token_read_header(text, &arena, &header) &&
           web_keys_verify(authority->keys, text, header.algorithm, header.key_id);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bearer_authority.h - which bearer tokens of identity providers (api/jwt/web_token.h) the server takes:
 * the keys of the provider, from a file that the server reads again when it changes, and what a token must
 * say.
 *
 * Where signatures are not checked, every program that reaches the server can write its own tokens. That is
 * for development, on loopback addresses.
 */
#ifndef SERVICE_ADMISSION_BEARER_AUTHORITY_H
#define SERVICE_ADMISSION_BEARER_AUTHORITY_H

#include "api/jwt/web_keys.h"
#include "api/jwt/web_token.h"
#include "base/pem_file.h"

/* As in the table of settings. */
enum bearer_signatures { BEARER_SIGNATURES_CHECKED, BEARER_SIGNATURES_UNCHECKED };

struct bearer_options {
    const char *keys_path;         /* NULL: none */
    const char *issuer, *audience; /* NULL: not set */
    int signatures;                /* enum bearer_signatures */
    bool is_local;                 /* all of the server's addresses are loopback addresses or Unix sockets */
};

struct bearer_authority {
    bool is_on; /* false: no bearer token of another party is taken */
    bool checks_signatures;
    struct web_token_rules rules;
    struct pem_file file;
    struct web_keys *keys;
};

/*
 * Read the keys. The options' texts must outlive *out, which bearer_authority_close releases, also after a
 * failure.
 *
 * STATUS_INVALID  the settings contradict each other, or the file cannot be used; the message names the setting
 */
MUST_USE enum status bearer_authority_open(
    const struct bearer_options *options, struct bearer_authority *out, struct error *err);

/* Accepts a zeroed one. */
void bearer_authority_close(struct bearer_authority *authority);

/*
 * The keys of the file, if it has changed since it was read; NULL: the present ones stay, because it has
 * not or cannot be used, which is logged. The caller owns them. Called by one thread.
 */
struct web_keys *bearer_authority_look(struct bearer_authority *authority);

/*
 * Read a token that another party may have signed, without verifying it. The strings lie in the arena.
 *
 * false: no such token is taken, or it could never be valid
 */
bool bearer_authority_read(
    const struct bearer_authority *authority, struct str text, struct arena *arena, struct credential *out);

/* Whether one of the keys has signed the token; true if signatures are not checked. */
bool bearer_authority_verify(const struct bearer_authority *authority, struct str text);

#endif

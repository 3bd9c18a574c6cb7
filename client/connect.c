/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect.c - see the header.
 */
#include "client/connect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "domain/access/credential.h"

enum { TOKEN_BYTES = 8192 };

/* Read the first line of the file. */
static enum status read_token(const char *path, char out[TOKEN_BYTES], struct error *err)
{
    FILE *file = fopen(path, "re");

    if (!file)
        return error_set(err, STATUS_INVALID, "%s: %s", path, strerror(errno));
    if (!fgets(out, TOKEN_BYTES, file))
        out[0] = '\0';
    fclose(file);
    out[strcspn(out, "\r\n")] = '\0';
    if (out[0] == '\0')
        return error_set(err, STATUS_INVALID, "%s: no token in its first line", path);
    return STATUS_OK;
}

/*
 * Give the token of the file. The file is read again when its token is about to end or was refused: another
 * program may have renewed it.
 */
static bool give_token(void *context, char *out, size_t size)
{
    char token[TOKEN_BYTES];
    bool given =
        read_token(context, token, NULL) == STATUS_OK && (size_t)snprintf(out, size, "%s", token) < size;

    explicit_bzero(token, sizeof(token));
    return given;
}

bool connect_token_expired(const struct client_config *config, char out[static TIME_TEXT_BYTES])
{
    struct credential credential;
    char text[TOKEN_BYTES] = "";
    struct arena arena;
    bool expired;

    if (config->token)
        snprintf(text, sizeof(text), "%s", config->token);
    else if (!config->token_file || read_token(config->token_file, text, NULL) != STATUS_OK)
        return false;
    arena_init(&arena);
    expired = credential_parse(str_of(text), &arena, &credential) && credential.expiry &&
              credential.expiry <= clock_ticks();
    if (expired)
        time_text_format(credential.expiry, out);
    arena_cleanup(&arena);
    explicit_bzero(text, sizeof(text));
    return expired;
}

enum status client_connect(
    const struct client_config *config, int max_attempts, struct tavola **out, struct error *err)
{
    const struct tavola_options options = {
        .target = config->target,
        .ca = config->ca,
        .certificate = config->certificate,
        .key = config->key,
        .token = config->token,
        .give_token = config->token_file ? give_token : NULL,
        .give_token_context = (void *)(uintptr_t)config->token_file,
        .max_attempts = max_attempts,
    };
    struct tavola_error error;
    char ignored[TOKEN_BYTES];

    if (!config->ca && (config->certificate || config->key))
        return error_set(
            err, STATUS_INVALID, "TAVOLA_CLIENT_CERT and TAVOLA_CLIENT_KEY are of use with TAVOLA_CA only");
    if (config->token && config->token_file)
        return error_set(err, STATUS_INVALID, "TAVOLA_TOKEN and TAVOLA_TOKEN_FILE are both set");
    if (config->token_file)
        TRY(read_token(config->token_file, ignored, err));
    if (tavola_open(&options, out, &error) != TAVOLA_OK)
        return error_set(err, STATUS_INVALID, "%s", error.message);
    return STATUS_OK;
}

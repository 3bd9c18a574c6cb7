/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect.c - see the header.
 */
#include "client/connect.h"

#include <errno.h>
#include <string.h>

enum { TOKEN_BYTES = 8192 };

/* The first line of the file. */
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

enum status client_connect(const struct client_config *config, struct rpc_channel **out, struct error *err)
{
    const struct rpc_client_tls tls = { config->ca, config->certificate, config->key };
    const char *token = config->token;
    char from_file[TOKEN_BYTES];
    enum status status;

    if (!config->ca && (config->certificate || config->key))
        return error_set(
            err, STATUS_INVALID, "TAVOLA_CLIENT_CERT and TAVOLA_CLIENT_KEY are of use with TAVOLA_CA only");
    if (token && config->token_file)
        return error_set(err, STATUS_INVALID, "TAVOLA_TOKEN and TAVOLA_TOKEN_FILE are both set");
    if (config->token_file) {
        TRY(read_token(config->token_file, from_file, err));
        token = from_file;
    }
    status = rpc_channel_open(
        &(struct rpc_channel_options){
            .target = config->target, .tls = config->ca ? &tls : NULL, .token = token },
        out, err);
    explicit_bzero(from_file, config->token_file ? sizeof(from_file) : 0);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_source.h - the credential of a client, which is renewed before it ends. Any thread may use it.
 */
#ifndef CLIENT_LIB_TOKEN_SOURCE_H
#define CLIENT_LIB_TOKEN_SOURCE_H

#include <pthread.h>

#include "base/arena.h"
#include "client/lib/tavola.h"
#include "domain/limits.h"
#include "rpc/channel.h"

/* What the library needs to sign tokens itself. */
struct token_signer {
    char account[LIMIT_ACCOUNT_NAME_MAX + 1];
    char key[64];
};

struct token_source {
    tavola_token_fn *give; /* NULL: the token of the channel is never replaced */
    void *context;
    struct rpc_channel *channel;
    struct token_signer signer;
    /* guards the members below; held while `give` is called, so that calls do not overlap */
    pthread_mutex_t lock;
    int64_t renew_ticks; /* 0: there is no token yet; INT64_MAX: the end of the token is not known */
    uint64_t generation; /* number of the token; grows with each new one */
};

void token_source_init(
    struct token_source *source, const struct tavola_options *options, struct rpc_channel *channel);
void token_source_cleanup(struct token_source *source);

/* Call it before a call: renews the token if it is about to end. Returns the token's generation. */
uint64_t token_source_prepare(struct token_source *source);

/* The service has refused the token of this generation: get another one. true: there is a new token. */
bool token_source_replace(struct token_source *source, uint64_t refused);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_source.h - the credential of a client, renewed before it ends. Any thread.
 */
#ifndef CLIENT_LIB_TOKEN_SOURCE_H
#define CLIENT_LIB_TOKEN_SOURCE_H

#include <pthread.h>

#include "base/arena.h"
#include "client/lib/tavola.h"
#include "domain/limits.h"
#include "rpc/channel.h"

/* What the library needs to sign tokens by itself. */
struct token_signer {
    char account[LIMIT_ACCOUNT_NAME_MAX + 1];
    char key[64];
};

struct token_source {
    tavola_token_fn *give; /* NULL: the channel's token stays as it is */
    void *context;
    struct rpc_channel *channel;
    struct token_signer signer;
    pthread_mutex_t lock; /* guards what follows, and runs give in one thread at a time */
    int64_t renew_ticks;  /* 0: there is no token yet; INT64_MAX: it has no end that is known */
    uint64_t generation;  /* of the token: it grows with each */
};

void token_source_init(
    struct token_source *source, const struct tavola_options *options, struct rpc_channel *channel);
void token_source_cleanup(struct token_source *source);

/* Before a call: renew the token if it is about to end. Returns its generation. */
uint64_t token_source_prepare(struct token_source *source);

/* The service has refused the token of this generation. true: there is another one now. */
bool token_source_replace(struct token_source *source, uint64_t refused);

#endif

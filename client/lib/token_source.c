/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_source.c - see the header. A token contains the time of its end. It is renewed when a tenth of its
 * life is left.
 */
#include "client/lib/token_source.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "domain/access/credential.h"
#include "domain/ticks.h"

enum { OWN_LIFETIME_MS = 3600 * 1000, LIFE_PARTS = 10, TICKS_PER_MS = 10000 };

static bool give_own(void *context, char *out, size_t size)
{
    const struct token_signer *signer = context;
    const struct tavola_signature token = { .account = signer->account,
        .account_key = signer->key,
        .expiry_ms = (clock_ticks() - ticks_from_unix_us(0)) / TICKS_PER_MS + OWN_LIFETIME_MS };
    char *text = NULL;
    bool given =
        tavola_sign(&token, &text, NULL) == TAVOLA_OK && (size_t)snprintf(out, size, "%s", text) < size;

    tavola_free(text);
    return given;
}

void token_source_init(
    struct token_source *source, const struct tavola_options *options, struct rpc_channel *channel)
{
    *source = (struct token_source){
        .give = options->give_token, .context = options->give_token_context, .channel = channel
    };
    if (options->account_key) {
        snprintf(source->signer.account, sizeof(source->signer.account), "%s", options->account);
        snprintf(source->signer.key, sizeof(source->signer.key), "%s", options->account_key);
        source->give = give_own;
        source->context = &source->signer;
    }
    pthread_mutex_init(&source->lock, NULL);
}

void token_source_cleanup(struct token_source *source)
{
    explicit_bzero(&source->signer, sizeof(source->signer));
    pthread_mutex_destroy(&source->lock);
}

/* When to renew a token that is used from now on. */
static int64_t renewal_of(const char *token)
{
    struct credential credential;
    int64_t now = clock_ticks(), renewal = INT64_MAX;
    struct arena arena;

    arena_init(&arena);
    if (credential_parse(str_of(token), &arena, &credential) && credential.expiry > now)
        renewal = credential.expiry - (credential.expiry - now) / LIFE_PARTS;
    arena_cleanup(&arena);
    return renewal;
}

static void renew(struct token_source *source)
{
    char token[LIMIT_CREDENTIAL_BYTES + 1];

    if (source->give(source->context, token, sizeof(token))) {
        rpc_channel_set_token(source->channel, token);
        source->renew_ticks = renewal_of(token);
        source->generation++;
    }
    explicit_bzero(token, sizeof(token));
}

uint64_t token_source_prepare(struct token_source *source)
{
    uint64_t generation;

    if (!source->give)
        return 0;
    pthread_mutex_lock(&source->lock);
    if (clock_ticks() >= source->renew_ticks)
        renew(source);
    generation = source->generation;
    pthread_mutex_unlock(&source->lock);
    return generation;
}

bool token_source_replace(struct token_source *source, uint64_t refused)
{
    bool replaced;

    if (!source->give)
        return false;
    pthread_mutex_lock(&source->lock);
    if (source->generation == refused)
        renew(source);
    replaced = source->generation != refused;
    pthread_mutex_unlock(&source->lock);
    return replaced;
}

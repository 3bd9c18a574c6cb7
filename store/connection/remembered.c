/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remembered.c - see the header.
 */
#include "store/connection/remembered.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/macros.h"

enum { MAX_HINT_BYTES = 256 };

struct remembered {
    pthread_mutex_t mutex; /* guards all members */
    struct history known;
    bool was_offered; /* a hint was offered */
    char offer[MAX_HINT_BYTES];
    size_t offer_len; /* of the hint that is not judged yet; 0: none */
    struct token_key key;
    int64_t raised; /* the epoch; 0: not raised since remembered_take_raise */
};

struct remembered *remembered_new(void)
{
    struct remembered *remembered = xcalloc(1, sizeof(*remembered));

    pthread_mutex_init(&remembered->mutex, NULL);
    return remembered;
}

void remembered_free(struct remembered *remembered)
{
    if (!remembered)
        return;
    pthread_mutex_destroy(&remembered->mutex);
    free(remembered);
}

bool remembered_wants_hint(struct remembered *remembered)
{
    bool wants;

    pthread_mutex_lock(&remembered->mutex);
    wants = !remembered->was_offered;
    pthread_mutex_unlock(&remembered->mutex);
    return wants;
}

void remembered_offer(struct remembered *remembered, struct str hint)
{
    pthread_mutex_lock(&remembered->mutex);
    if (!remembered->was_offered && hint.len > 0 && hint.len <= MAX_HINT_BYTES) {
        memcpy(remembered->offer, hint.data, hint.len);
        remembered->offer_len = hint.len;
    }
    remembered->was_offered = true;
    pthread_mutex_unlock(&remembered->mutex);
}

bool remembered_hint(struct remembered *remembered, struct arena *arena, struct str *out)
{
    bool is_ready;

    pthread_mutex_lock(&remembered->mutex);
    is_ready = remembered->was_offered && remembered->offer_len == 0 && remembered->known.system_id != 0;
    if (is_ready)
        *out = history_seal(&remembered->known, &remembered->key, arena);
    pthread_mutex_unlock(&remembered->mutex);
    return is_ready;
}

bool remembered_take_raise(struct remembered *remembered, int64_t *epoch)
{
    bool raised;

    pthread_mutex_lock(&remembered->mutex);
    raised = remembered->raised != 0;
    *epoch = remembered->raised;
    remembered->raised = 0;
    pthread_mutex_unlock(&remembered->mutex);
    return raised;
}

struct history remembered_judge(struct remembered *remembered, const struct token_key *key)
{
    struct history offered, known;
    ARENA_SCOPE arena;

    arena_init(&arena);
    pthread_mutex_lock(&remembered->mutex);
    remembered->key = *key;
    if (remembered->offer_len > 0 &&
        history_open(str_of_bytes(remembered->offer, remembered->offer_len), key, &arena, &offered) &&
        (remembered->known.system_id == 0 || remembered->known.system_id == offered.system_id))
        history_remember(&remembered->known, &offered);
    remembered->offer_len = 0;
    known = remembered->known;
    pthread_mutex_unlock(&remembered->mutex);
    return known;
}

void remembered_confirm(struct remembered *remembered, const struct history *seen)
{
    pthread_mutex_lock(&remembered->mutex);
    history_remember(&remembered->known, seen);
    pthread_mutex_unlock(&remembered->mutex);
}

void remembered_raised(struct remembered *remembered, int64_t epoch)
{
    pthread_mutex_lock(&remembered->mutex);
    remembered->raised = epoch;
    pthread_mutex_unlock(&remembered->mutex);
}

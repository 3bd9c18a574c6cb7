/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_catalogue.c - see the header. No statement is sent while the mutex is held.
 */
#include "store/session/shared_catalogue.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/condition.h"
#include "store/session/catalogue_load.h"

enum { MIN_SHARE = 15 }; /* a reading after another's gets at least this part of the time limit */

struct shared_catalogue {
    pthread_mutex_t mutex;
    pthread_cond_t read; /* a session has finished reading the catalogue */
    bool reading;
    struct catalogue_reading newest; /* its catalogue is NULL until one has been read */
};

struct shared_catalogue *shared_catalogue_new(void)
{
    struct shared_catalogue *shared = xcalloc(1, sizeof(*shared));

    pthread_mutex_init(&shared->mutex, NULL);
    condition_init(&shared->read);
    return shared;
}

void shared_catalogue_free(struct shared_catalogue *shared)
{
    if (!shared)
        return;
    catalogue_release(shared->newest.catalogue);
    pthread_cond_destroy(&shared->read);
    pthread_mutex_destroy(&shared->mutex);
    free(shared);
}

/* The caller holds the mutex. */
static struct catalogue_reading refer_to_newest(const struct shared_catalogue *shared)
{
    struct catalogue_reading reading = shared->newest;

    if (reading.catalogue)
        catalogue_retain(reading.catalogue);
    return reading;
}

/* Whether the newest catalogue is the answer. The caller holds the mutex. */
static bool is_answered(
    const struct shared_catalogue *shared, const struct catalogue *known, int64_t since_us)
{
    return shared->newest.catalogue && shared->newest.catalogue != known &&
           shared->newest.asked_us >= since_us;
}

/*
 * Wait while another session reads what may be the answer. true: *out is the answer. false: the
 * caller has to read; *out is the newest catalogue, if there is one, from which it continues.
 * *first: other sessions wait for this caller's reading.
 */
static bool look_at_newest(struct shared_catalogue *shared, const struct catalogue *known, int64_t since_us,
    int64_t deadline_us, struct catalogue_reading *out, bool *first)
{
    bool answered;

    pthread_mutex_lock(&shared->mutex);
    while (!is_answered(shared, known, since_us) && shared->reading &&
           condition_wait_until(&shared->read, &shared->mutex, deadline_us))
        continue;
    answered = is_answered(shared, known, since_us);
    *out = refer_to_newest(shared);
    *first = !answered && !shared->reading;
    if (*first)
        shared->reading = true;
    pthread_mutex_unlock(&shared->mutex);
    return answered;
}

/*
 * Of two catalogues of one history, the one with the higher version is newer; otherwise the one
 * that was read later. The caller holds the mutex.
 */
static bool is_newer(const struct catalogue_reading *a, const struct catalogue_reading *b)
{
    if (!b->catalogue)
        return true;
    if (a->catalogue->origin == b->catalogue->origin && a->catalogue->epoch == b->catalogue->epoch)
        return a->catalogue->version > b->catalogue->version;
    return a->asked_us > b->asked_us;
}

/*
 * Keep a reading if it is the newest. If it found the newest catalogue again, only its time is
 * kept. The caller holds the mutex.
 */
static void keep(struct shared_catalogue *shared, const struct catalogue_reading *fresh)
{
    if (shared->newest.catalogue == fresh->catalogue) {
        if (shared->newest.asked_us < fresh->asked_us)
            shared->newest.asked_us = fresh->asked_us;
        return;
    }
    if (!is_newer(fresh, &shared->newest))
        return;
    catalogue_release(shared->newest.catalogue);
    shared->newest = *fresh;
    catalogue_retain(fresh->catalogue);
}

/*
 * Read on the connection within what is left of its time limit, of which the wait for another session has used some: a
 * database that does not answer would hold up the others twice as long as the first.
 */
static enum status read_in_rest(struct pg *pg, const struct catalogue *known, int64_t begun_us,
    struct catalogue_reading *out, struct error *err)
{
    int64_t limit_us = pg->limit_us, rest_us = begun_us + limit_us - clock_monotonic_us();
    int64_t min_us = limit_us / MIN_SHARE;
    enum status status;

    out->asked_us = clock_monotonic_us();
    pg->limit_us = rest_us > min_us ? rest_us : min_us;
    status = catalogue_load(pg, known, &out->catalogue, err);
    pg->limit_us = limit_us;
    return status;
}

enum status shared_catalogue_get(struct shared_catalogue *shared, struct pg *pg,
    const struct catalogue *known, int64_t since_us, struct catalogue_reading *out, struct error *err)
{
    struct catalogue_reading fresh = { NULL };
    struct catalogue_reading before;
    int64_t begun_us = clock_monotonic_us();
    enum status status;
    bool first;

    if (look_at_newest(shared, known, since_us, begun_us + pg->limit_us, out, &first))
        return STATUS_OK;
    before = *out;
    status = read_in_rest(pg, before.catalogue, begun_us, &fresh, err);
    pthread_mutex_lock(&shared->mutex);
    if (first) {
        shared->reading = false;
        pthread_cond_broadcast(&shared->read);
    }
    if (status == STATUS_OK)
        keep(shared, &fresh);
    pthread_mutex_unlock(&shared->mutex);
    catalogue_release(before.catalogue);
    *out = fresh;
    return status;
}

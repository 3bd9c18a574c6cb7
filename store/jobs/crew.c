/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.c - see the header.
 */
#include "store/jobs/crew.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store/session/worker.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

enum { BUSY_MS = 3000 }; /* how long another session counts as busy after it was seen at work */

struct crew {
    struct worker *store; /* of the second member's thread */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    crew_task *task; /* NULL: there is none to be done */
    void *context;
    bool is_ending;
    bool gives_way; /* set by the leader */
    int64_t busy_until_us;
};

static void *serve(void *argument)
{
    struct crew *crew = argument;

    pthread_mutex_lock(&crew->mutex);
    while (!crew->is_ending) {
        if (!crew->task) {
            pthread_cond_wait(&crew->changed, &crew->mutex);
            continue;
        }
        pthread_mutex_unlock(&crew->mutex);
        crew->task(crew->store, crew->context);
        pthread_mutex_lock(&crew->mutex);
        crew->task = NULL;
        pthread_cond_signal(&crew->changed);
    }
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

static void free_crew(struct crew *crew)
{
    pthread_cond_destroy(&crew->changed);
    pthread_mutex_destroy(&crew->mutex);
    worker_close(crew->store);
    free(crew);
}

enum status crew_open(struct worker *leader, struct error *err)
{
    struct crew *crew = xcalloc(1, sizeof(*crew));
    int failure;

    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->changed, NULL);
    if (worker_open(leader->session.pg.conninfo, leader->worker.data, &crew->store, err) != STATUS_OK) {
        free_crew(crew);
        return err->status;
    }
    worker_remember(crew->store, leader->session.remembered);
    worker_share_catalogue(crew->store, leader->session.shared_catalogue);
    failure = pthread_create(&crew->thread, NULL, serve, crew);
    if (failure != 0) {
        free_crew(crew);
        return error_set(err, STATUS_INTERNAL, "cannot start a thread: error %d", failure);
    }
    leader->crew = crew;
    return STATUS_OK;
}

void crew_close(struct worker *leader)
{
    struct crew *crew = leader->crew;

    if (!crew)
        return;
    leader->crew = NULL;
    pthread_mutex_lock(&crew->mutex);
    crew->is_ending = true;
    pthread_cond_signal(&crew->changed);
    pthread_mutex_unlock(&crew->mutex);
    pthread_join(crew->thread, NULL);
    free_crew(crew);
}

void crew_give_way(struct worker *leader, bool gives_way)
{
    if (leader->crew)
        leader->crew->gives_way = gives_way;
}

static enum status look_around(struct session *session, void *context, struct error *err)
{
    int64_t *active = context;
    PG_RESULT found = NULL;

    TRY(pg_query(&session->pg, &sql_active_sessions, NULL, &found, err));
    *active = pg_int8(found, 0, PG_ONLY_COLUMN);
    return STATUS_OK;
}

enum status crew_look_around(struct worker *leader, struct error *err)
{
    int64_t active = 0;

    if (!leader->crew)
        return STATUS_OK;
    TRY(worker_attempt(leader, look_around, &active, err));
    if (active > 0)
        leader->crew->busy_until_us = clock_monotonic_us() + BUSY_MS * 1000;
    return STATUS_OK;
}

enum crew_pace crew_pace(const struct worker *leader)
{
    const struct crew *crew = leader->crew;

    if (!crew || crew->gives_way)
        return CREW_STEP;
    return clock_monotonic_us() < crew->busy_until_us ? CREW_ALONE : CREW_TOGETHER;
}

void crew_run(struct worker *leader, crew_task *task, void *context)
{
    struct crew *crew = leader->crew;

    if (crew_pace(leader) != CREW_TOGETHER) {
        task(leader, context);
        return;
    }
    pthread_mutex_lock(&crew->mutex);
    crew->task = task;
    crew->context = context;
    pthread_cond_signal(&crew->changed);
    pthread_mutex_unlock(&crew->mutex);
    task(leader, context);
    pthread_mutex_lock(&crew->mutex);
    while (crew->task)
        pthread_cond_wait(&crew->changed, &crew->mutex);
    pthread_mutex_unlock(&crew->mutex);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn.c - see the header.
 */
#include "store/jobs/turn.h"

#include "base/clock.h"

enum { TURN_MS = 400 };

void turn_init(struct turn *turn, const struct turn_position *position, enum crew_pace pace)
{
    *turn = (struct turn){ .position = *position };
    if (pace != CREW_STEP)
        turn->end_us = clock_monotonic_us() + TURN_MS * 1000;
    pthread_mutex_init(&turn->mutex, NULL);
    pthread_cond_init(&turn->changed, NULL);
}

void turn_cleanup(struct turn *turn)
{
    pthread_cond_destroy(&turn->changed);
    pthread_mutex_destroy(&turn->mutex);
}

static bool has_ended(const struct turn *turn)
{
    return turn->is_over || turn->begun == TURN_CHUNKS ||
           (turn->begun > 0 && clock_monotonic_us() >= turn->end_us);
}

bool turn_take(struct turn *turn, size_t *number, struct turn_position *position)
{
    bool is_taken;

    pthread_mutex_lock(&turn->mutex);
    while (turn->is_held && !turn->is_over)
        pthread_cond_wait(&turn->changed, &turn->mutex);
    is_taken = !has_ended(turn);
    if (is_taken) {
        turn->is_held = true;
        *number = turn->begun++;
        *position = turn->position;
    }
    pthread_mutex_unlock(&turn->mutex);
    return is_taken;
}

void turn_pass(struct turn *turn, const struct entity_key *end)
{
    pthread_mutex_lock(&turn->mutex);
    turn->is_held = false;
    turn->position = (struct turn_position){ true, *end };
    pthread_cond_broadcast(&turn->changed);
    pthread_mutex_unlock(&turn->mutex);
}

void turn_stop(struct turn *turn)
{
    pthread_mutex_lock(&turn->mutex);
    turn->is_over = true;
    pthread_cond_broadcast(&turn->changed);
    pthread_mutex_unlock(&turn->mutex);
}

void turn_end(struct turn *turn, bool has_failed)
{
    pthread_mutex_lock(&turn->mutex);
    turn->ended++;
    turn->has_failed = turn->has_failed || has_failed;
    pthread_cond_broadcast(&turn->changed);
    pthread_mutex_unlock(&turn->mutex);
}

bool turn_await(struct turn *turn, size_t number)
{
    bool has_failed;

    pthread_mutex_lock(&turn->mutex);
    while (turn->ended < number && !turn->has_failed)
        pthread_cond_wait(&turn->changed, &turn->mutex);
    has_failed = turn->has_failed;
    pthread_mutex_unlock(&turn->mutex);
    return !has_failed;
}

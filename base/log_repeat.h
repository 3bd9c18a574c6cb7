/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_repeat.h - a failure that repeats: said once, said again when its cause changes, counted otherwise; and its end.
 *
 * One struct per thing that can fail, used by one thread; all zero: nothing has failed. Pure: the caller passes the
 * time and writes the lines.
 *
 * A success shortly after a failure is no end yet: between two failures of one outage nothing is said.
 */
#ifndef BASE_LOG_REPEAT_H
#define BASE_LOG_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LOG_REPEAT_CAUSE_BYTES = 256,
    LOG_REPEAT_CALM_US = 1000000,      /* without a failure: the outage is over */
    LOG_REPEAT_CHANGE_US = 5000000,    /* between two lines that tell of another cause */
    LOG_REPEAT_REMINDER_US = 60000000, /* between two lines of one cause */
};

struct log_repeat {
    char cause[LOG_REPEAT_CAUSE_BYTES]; /* as said last */
    int64_t failures; /* since the outage began, or after a minute without any; 0: there is none */
    int64_t first_us, last_us, said_us;
};

/*
 * It has failed. true: to be said now, with repeat->failures. That is so for the first failure, for another cause
 * than the one said last, once in five seconds, and for the same one once a minute.
 */
bool log_repeat_failed(struct log_repeat *repeat, const char *cause, int64_t now_us);

/*
 * It has worked. true: that ends an outage, to be said now. *ended is what it was: its failures and times.
 */
bool log_repeat_worked(struct log_repeat *repeat, int64_t now_us, struct log_repeat *ended);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_repeat.h - decides when a repeated failure is logged: the first time, when its cause changes,
 * once a minute, and when it ends. In between it is counted.
 *
 * There is one struct per operation that can fail, used by one thread; all zeros: nothing has
 * failed. Pure: the caller passes the time and writes the lines.
 *
 * A success within LOG_REPEAT_CALM_US after a failure does not end the outage.
 */
#ifndef BASE_LOG_REPEAT_H
#define BASE_LOG_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LOG_REPEAT_CAUSE_BYTES = 256,
    /* a success ends the outage if it comes this long after the last failure */
    LOG_REPEAT_CALM_US = 1000000,
    LOG_REPEAT_CHANGE_US = 5000000,    /* minimum between two lines about changed causes */
    LOG_REPEAT_REMINDER_US = 60000000, /* between two lines about one cause */
};

struct log_repeat {
    char cause[LOG_REPEAT_CAUSE_BYTES]; /* as logged last */
    int64_t failures;                   /* of the outage; 0: there is no outage */
    int64_t first_us, last_us, logged_us;
};

/*
 * The operation has failed. true: log it now, with repeat->failures: it is the first failure, or
 * the cause is another one than was logged last (at most once in five seconds), or a minute has
 * passed since the last line.
 */
bool log_repeat_failed(struct log_repeat *repeat, const char *cause, int64_t now_us);

/*
 * The operation has succeeded. true: that ends an outage: log it now. *ended has the outage's
 * failures and times.
 */
bool log_repeat_worked(struct log_repeat *repeat, int64_t now_us, struct log_repeat *ended);

#endif

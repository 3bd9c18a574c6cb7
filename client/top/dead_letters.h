/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_letters.h - how many dead letters there are, of keys and of transactions.
 */
#ifndef CLIENT_TOP_DEAD_LETTERS_H
#define CLIENT_TOP_DEAD_LETTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "client/lib/tavola.h"

struct dead_letter_counts {
    int64_t dead, retrying, discarded;
};

/* false: a call failed, and standard error has the cause. */
bool dead_letters_count(struct tavola *client, struct dead_letter_counts *out);

#endif

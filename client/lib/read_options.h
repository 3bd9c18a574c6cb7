/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_options.h - the options that all reads share.
 */
#ifndef CLIENT_LIB_READ_OPTIONS_H
#define CLIENT_LIB_READ_OPTIONS_H

#include "base/arena.h"
#include "client/lib/tavola.h"
#include "tavola/v1/entity_service.pb-c.h"

/* Make the message of read options, in the arena. It borrows the texts. */
Tavola__V1__ReadOptions *read_options_message(const struct tavola_read_options *options, struct arena *arena);

#endif

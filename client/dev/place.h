/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - where a private stack lives: its folders, and the lock that keeps a second one out.
 *
 *   <data>/postgres  the database cluster         <data>/log   one file per program, and the one before
 *   <data>/redis     Redis' working folder        <data>/run   sockets, open to nobody else
 *   <data>/lock      held by the supervisor; says who it is and where the stack answers
 *   <data>/programs  held by its children for as long as any of them lives
 *
 * The path of a Unix socket may have 107 bytes: where <data>/run is too long (or has characters that a
 * connection string would have to quote), the sockets are in a folder under /tmp instead.
 *
 * As root the folders of PostgreSQL, Redis and the sockets belong to user postgres: both refuse to be root.
 */
#ifndef CLIENT_DEV_PLACE_H
#define CLIENT_DEV_PLACE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

struct place {
    const char *data;
    const char *postgres;
    const char *redis;
    const char *log;
    const char *run;
    bool as_root;
    bool temporary;     /* all of it is removed by place_close */
    bool run_temporary; /* the sockets' folder is */
    int lock;           /* descriptors */
    int programs;
};

/* The folder of this user when TAVOLA_DEV_DATA does not name one. */
const char *place_default_data(struct arena *arena);

/*
 * Make the folders and take the locks; strings are in arena.
 *
 * data  NULL: a new temporary folder
 *
 * STATUS_EXISTS       another stack runs there; the message names its process
 * STATUS_UNAVAILABLE  a folder cannot be made, user postgres does not exist
 */
MUST_USE enum status place_open(const char *data, struct arena *arena, struct place *out, struct error *err);

/* Give back what place_open took. */
void place_close(struct place *place);

/* What `status` shows: replaces the text in the lock file. */
void place_describe(struct place *place, const char *text);

/* The text of whoever holds the lock of this folder; false: nobody does. */
bool place_read_holder(const char *data, char *out, size_t size);

/* A folder of that owner with mode 0700; it may be there already. */
MUST_USE enum status place_make_folder(const struct place *place, const char *path, struct error *err);

/* Remove a folder with everything in it. */
void place_remove_folder(const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_folder.h - the folders of a private stack, and the lock that keeps a second stack out of them.
 *
 *   <data>/postgres  the database cluster         <data>/log   one file per program, and one of the previous run
 *   <data>/redis     Redis' working folder        <data>/run   sockets, mode 0700
 *   <data>/lock      held by the supervisor; holds its process id and the stack's addresses
 *   <data>/programs  held by its children for as long as any of them lives
 *
 * The path of a Unix socket may have 107 bytes. If <data>/run is too long, or has characters that a
 * connection string would have to quote, the sockets are in a folder under /tmp instead.
 *
 * If the supervisor runs as root, the folders of PostgreSQL, Redis and the sockets belong to user postgres,
 * since both programs run as that user.
 */
#ifndef CLIENT_DEV_DATA_FOLDER_H
#define CLIENT_DEV_DATA_FOLDER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

struct data_folder {
    const char *data;
    const char *postgres;
    const char *redis;
    const char *log;
    const char *run;
    bool as_root;
    bool temporary;     /* data_folder_close removes the whole folder */
    bool run_temporary; /* data_folder_close removes `run` */
    int lock;           /* descriptors of the lock files */
    int programs;
};

/* The folder of this user, which is used if TAVOLA_DEV_DATA is not set. */
const char *data_folder_default_path(struct arena *arena);

/*
 * Make the folders and take the locks; strings are in arena.
 *
 * data  NULL: a new temporary folder
 *
 * STATUS_EXISTS       another stack runs there; the message names its process
 * STATUS_UNAVAILABLE  a folder cannot be made, user postgres does not exist
 */
MUST_USE enum status data_folder_open(
    const char *data, struct arena *arena, struct data_folder *out, struct error *err);

/* Release the locks, and remove temporary folders. */
void data_folder_close(struct data_folder *folder);

/* Replace the text in the lock file, which `tavola dev status` shows. */
void data_folder_describe(struct data_folder *folder, const char *text);

/* Read the text that the holder of the lock has written; false: no process holds the lock. */
bool data_folder_read_holder(const char *data, char *out, size_t size);

/* Make a folder with mode 0700 and the owner of the others; it may exist already. */
MUST_USE enum status data_folder_make_child(
    const struct data_folder *folder, const char *path, struct error *err);

/* Remove a folder with everything in it. */
void data_folder_remove(const char *path);

#endif

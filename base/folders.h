/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folders.h - open folders from a root down to that of a file. Each is opened in the folder before it, and none through
 * a symbolic link, except for the root itself.
 */
#ifndef BASE_FOLDERS_H
#define BASE_FOLDERS_H

#include <stddef.h>
#include <sys/types.h>

enum { FOLDERS_MAX = 9 };

struct folders {
    int fds[FOLDERS_MAX]; /* of the root, and so on */
    size_t count;
};

/*
 * Begin with the root, which is never made. folders_close releases what is open, also after a failure. This function
 * and the others that open return 0 or an errno.
 */
int folders_open(struct folders *folders, const char *root);
void folders_close(struct folders *folders);

/* Open a folder in the last one. ENOENT: nothing has this name; ENOTDIR: it is no folder, or a link. */
int folders_enter(struct folders *folders, const char *name);

/* The same, and make the folder if it is missing. */
int folders_make(struct folders *folders, const char *name, mode_t mode);

/* The descriptor of the folder that was opened last. */
int folders_last(const struct folders *folders);

/*
 * Make the names in all of them durable: a new file is on disk with its name, and with each folder that this program,
 * or one that has died just before, has made. Returns 0 or an errno.
 */
int folders_flush(const struct folders *folders);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - files that steps of transactions write, below a folder of each account in one root directory. Several
 * workers may share the directory.
 *
 * A path is walked part by part, and no part may be a symbolic link (guard G51). So no file outside the
 * account's folder is reached, even if another program makes links in it.
 */
#ifndef WORKERS_EFFECTS_FILES_H
#define WORKERS_EFFECTS_FILES_H

#include "base/error.h"
#include "base/str.h"
#include "domain/intents/delivery.h"

struct files_address {
    const char *root;
    struct str account; /* the account's id, which is the name of its folder */
    struct str path;    /* file_path_is_valid */
};

/*
 * Make a file with this content: it is durable when the function returns, and no reader sees a part of it. A file with
 * the same content that is there counts as made; a file is never replaced (guard G16).
 *
 * *cause is set if the call fails.
 *
 * STATUS_EXISTS        FILE_EXISTS: there is a file with other content
 * STATUS_PRECONDITION  FILE_PATH_BLOCKED: a part of the path is no folder, or is a symbolic link
 * STATUS_LIMIT         FILE_STORAGE_FULL: the disk or a quota is full
 * STATUS_INTERNAL      FILE_STORAGE_FAILED: any other error of the file system
 */
MUST_USE enum status files_write(
    const struct files_address *at, struct str content, enum delivery_cause *cause, struct error *err);

/*
 * Write the content at this offset of a file, which is made if it is missing; durable when the function returns. The
 * range belongs to this content alone, so writing it again, at any time, changes nothing (guard G16).
 * min_size: the size that the file has at least, unless another program has changed it.
 *
 * STATUS_PRECONDITION  also FILE_CHANGED: the file is smaller, or another program has written into the range
 *                      (guard G53)
 */
MUST_USE enum status files_append(const struct files_address *at, struct str content, int64_t offset,
    int64_t min_size, enum delivery_cause *cause, struct error *err);

#endif

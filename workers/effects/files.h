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

#endif

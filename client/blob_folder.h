/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_folder.h - the contents that exported entities hold, as files of a folder: each has the id of its content as
 * its name. References are found in the JSON of an entity, as strings of the form "tavola-blob:<id>".
 */
#ifndef CLIENT_BLOB_FOLDER_H
#define CLIENT_BLOB_FOLDER_H

#include <stdbool.h>

#include "client/lib/tavola.h"

/* Write the contents of all references in the JSON that the folder does not have. *error: of the call that failed. */
bool blob_folder_save(
    const char *folder, struct tavola *client, const char *json, struct tavola_error *error);

/* Put the contents of all references for which the folder has a file, and replace the references, in place. */
bool blob_folder_put(const char *folder, struct tavola *client, char *json, struct tavola_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h - stores the progress of an import or export in a small file beside the data file, so that the
 * next run can continue.
 *
 * The file is replaced as a whole. It names a table and a file, and is not used for another table or file.
 */
#ifndef CLIENT_CHECKPOINT_H
#define CLIENT_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

enum { CHECKPOINT_PATH_BYTES = 1024, CHECKPOINT_TEXT_BYTES = 4104, CHECKPOINT_INTERVAL_US = 100000 };

struct checkpoint {
    char path[CHECKPOINT_PATH_BYTES]; /* empty: no checkpoint is kept */
    char table[128];
    /* of the input: if the size differs, the checkpoint belongs to another file; 0 for exports */
    int64_t size;
    int64_t offset, line;              /* bytes and lines of the file that are settled */
    int64_t done, rejected;            /* numbers of entities */
    int64_t rejected_bytes;            /* size of the file of rejected lines */
    char token[CHECKPOINT_TEXT_BYTES]; /* of an export: the token at which the scan continues */
    int64_t saved_us;
};

/*
 * Set path and table, and read the checkpoint of an earlier run unless `restart` is set. true: there is one.
 */
bool checkpoint_open(struct checkpoint *checkpoint, const char *file, const char *suffix, const char *table,
    int64_t size, bool restart);

/*
 * Write the checkpoint; unless `now` is set, at most ten times a second. false: the cause is on standard
 * error.
 */
bool checkpoint_save(struct checkpoint *checkpoint, bool now);

/* Remove the file, when the work is complete. */
void checkpoint_remove(const struct checkpoint *checkpoint);

#endif

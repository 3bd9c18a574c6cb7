/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h - how far an import or export has come, in a small file beside its own: the next run goes on there.
 *
 * The file is replaced as a whole. It is of one table and one file; another one is not used.
 */
#ifndef CLIENT_CHECKPOINT_H
#define CLIENT_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

enum { CHECKPOINT_PATH_BYTES = 1024, CHECKPOINT_TEXT_BYTES = 4104, CHECKPOINT_INTERVAL_US = 100000 };

struct checkpoint {
    char path[CHECKPOINT_PATH_BYTES]; /* empty: nothing is kept */
    char table[128];
    int64_t size;                      /* of the input: another size is another file; 0 for exports */
    int64_t offset, line;              /* settled: bytes and lines of the file */
    int64_t done, rejected;            /* entities */
    int64_t rejected_bytes;            /* of the file of rejected lines */
    char token[CHECKPOINT_TEXT_BYTES]; /* of an export: where the scan goes on */
    int64_t saved_us;
};

/* Set path and table; read what an earlier run has left, unless `restart`. true: there is something. */
bool checkpoint_open(struct checkpoint *checkpoint, const char *file, const char *suffix, const char *table,
    int64_t size, bool restart);

/* Write it, at most ten times a second unless `now`. false: standard error has the cause. */
bool checkpoint_save(struct checkpoint *checkpoint, bool now);

/* The work is done: there is nothing to go on with. */
void checkpoint_remove(const struct checkpoint *checkpoint);

#endif

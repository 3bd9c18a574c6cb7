/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.c - see the header.
 */
#include "client/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define NUMBERS "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64

bool checkpoint_open(struct checkpoint *checkpoint, const char *file, const char *suffix, const char *table,
    int64_t size, bool restart)
{
    struct checkpoint read = { .size = 0 };
    FILE *saved;
    int found;

    *checkpoint = (struct checkpoint){ .size = size };
    snprintf(checkpoint->path, sizeof(checkpoint->path), "%s%s", file, suffix);
    snprintf(checkpoint->table, sizeof(checkpoint->table), "%s", table);
    saved = restart ? NULL : fopen(checkpoint->path, "re");
    if (!saved)
        return false;
    found = fscanf(saved, "%127s " NUMBERS " %4103s", read.table, &read.size, &read.offset, &read.line,
        &read.done, &read.rejected, &read.rejected_bytes, read.token);
    fclose(saved);
    if (found < 7 || strcmp(read.table, table) != 0 || read.size != size)
        return false;
    memcpy(read.path, checkpoint->path, sizeof(read.path));
    *checkpoint = read;
    return true;
}

static bool complain(const char *path)
{
    fprintf(stderr, "tavola: %s: %s\n", path, strerror(errno));
    return false;
}

bool checkpoint_save(struct checkpoint *checkpoint, bool now)
{
    int64_t time_us = clock_monotonic_us();
    char path[CHECKPOINT_PATH_BYTES + 4];
    FILE *out;
    bool written;

    if (!checkpoint->path[0] || (!now && time_us - checkpoint->saved_us < CHECKPOINT_INTERVAL_US))
        return true;
    checkpoint->saved_us = time_us;
    snprintf(path, sizeof(path), "%s.new", checkpoint->path);
    out = fopen(path, "we");
    if (!out)
        return complain(path);
    fprintf(out, "%s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %s\n",
        checkpoint->table, checkpoint->size, checkpoint->offset, checkpoint->line, checkpoint->done,
        checkpoint->rejected, checkpoint->rejected_bytes, checkpoint->token);
    written = !ferror(out);
    if (fclose(out) != 0 || !written || rename(path, checkpoint->path) != 0)
        return complain(path);
    return true;
}

void checkpoint_remove(const struct checkpoint *checkpoint)
{
    if (checkpoint->path[0])
        (void)unlink(checkpoint->path);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporary.c - mkdtemp(3) in the folder that TMPDIR names, and its removal.
 */
#include "tests/support/temporary.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void temporary_folder_make(const char *name, char *out, size_t size)
{
    static const char suffix[] = "XXXXXX";
    const char *parent = getenv("TMPDIR");

    if (!parent || parent[0] != '/' ||
        strlen(parent) + strlen(name) + sizeof(suffix) + 1 > MAX_TEMPORARY_PATH)
        parent = "/tmp";
    if (snprintf(out, size, "%s/%s%s", parent, name, suffix) < (int)size && mkdtemp(out))
        return;
    fprintf(stderr, "no temporary folder in %s\n", parent);
    exit(EXIT_FAILURE);
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)stat, (void)type, (void)walk;
    if (remove(path) != 0)
        perror(path);
    return 0;
}

void temporary_folder_remove(const char *path)
{
    enum { MAX_OPEN = 16 };

    if (nftw(path, remove_one, MAX_OPEN, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
        perror(path);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporary.c - mkdtemp(3) in the folder that TMPDIR names.
 */
#include "tests/support/temporary.h"

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

/* SPDX-License-Identifier: Apache-2.0 */
/* folders.c - see the header. */
#include "base/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int folders_open(struct folders *folders, const char *root)
{
    folders->count = 0;
    folders->fds[0] = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folders->fds[0] < 0)
        return errno;
    folders->count = 1;
    return 0;
}

void folders_close(struct folders *folders)
{
    while (folders->count > 0)
        close(folders->fds[--folders->count]);
}

/* Guard G51: no link is followed. */
int folders_enter(struct folders *folders, const char *name)
{
    int fd;

    if (folders->count == FOLDERS_MAX)
        return ENAMETOOLONG;
    fd = openat(folders_last(folders), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno;
    folders->fds[folders->count++] = fd;
    return 0;
}

int folders_make(struct folders *folders, const char *name, mode_t mode)
{
    int failure = folders_enter(folders, name);

    if (failure != ENOENT)
        return failure;
    if (mkdirat(folders_last(folders), name, mode) != 0 && errno != EEXIST)
        return errno;
    return folders_enter(folders, name);
}

int folders_last(const struct folders *folders)
{
    return folders->fds[folders->count - 1];
}

int folders_flush(const struct folders *folders)
{
    for (size_t i = folders->count; i > 0; i--)
        if (fsync(folders->fds[i - 1]) != 0)
            return errno;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pem_file.c - see the header.
 */
#include "base/pem_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"

enum { MAX_BYTES = 1024 * 1024 };

void pem_file_cleanup(struct pem_file *file)
{
    if (file->text)
        explicit_bzero(file->text, strlen(file->text));
    free(file->text);
    file->text = NULL;
}

static bool read_whole(int fd, char *out, size_t size)
{
    size_t have = 0;

    while (have < size) {
        ssize_t got = read(fd, out + have, size - have);

        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    return true;
}

static enum status read_file(struct pem_file *file, struct error *err)
{
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    enum status status = STATUS_OK;
    size_t size = 0;

    if (fd < 0 || fstat(fd, &file->seen) != 0) {
        status = error_set(err, STATUS_INVALID, "%s: %s", file->path, strerror(errno));
    } else if (file->seen.st_size <= 0 || file->seen.st_size > MAX_BYTES) {
        status =
            error_set(err, STATUS_INVALID, "%s: empty, or larger than %d bytes", file->path, (int)MAX_BYTES);
    } else {
        size = (size_t)file->seen.st_size;
        file->text = xcalloc(1, size + 1);
        if (!read_whole(fd, file->text, size) || strlen(file->text) != size)
            status = error_set(err, STATUS_INVALID, "%s: not a text", file->path);
    }
    if (fd >= 0)
        close(fd);
    return status;
}

enum status pem_file_open_text(const char *path, struct pem_file *out, struct error *err)
{
    *out = (struct pem_file){ .path = path };
    return path ? read_file(out, err) : STATUS_OK;
}

enum status pem_file_open(const char *path, struct pem_file *out, struct error *err)
{
    TRY(pem_file_open_text(path, out, err));
    if (!path || strstr(out->text, "-----BEGIN"))
        return STATUS_OK;
    return error_set(err, STATUS_INVALID, "%s: not a file in PEM", path);
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool pem_file_has_changed(const struct pem_file *file)
{
    struct stat now;

    if (!file->path || stat(file->path, &now) != 0)
        /* the file does not exist while it is being replaced */
        return false;
    return now.st_ino != file->seen.st_ino || now.st_size != file->seen.st_size ||
           !same_time(now.st_mtim, file->seen.st_mtim) || !same_time(now.st_ctim, file->seen.st_ctim);
}

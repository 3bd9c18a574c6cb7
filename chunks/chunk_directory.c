/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_directory.c - see the header.
 *
 * A file gets its name when its bytes are on disk, by rename(): what has a name is whole. What a crash leaves has the
 * name with ".part" behind it, and is removed with the file. The directory itself is never made, so that a file system
 * that is not mounted is seen.
 */
#include "chunks/chunk_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/folders.h"

enum {
    FOLDER_MODE = 0700,
    FILE_MODE = 0600,
    FOLDERS = 3, /* the directory, and two below it */
    NAME_BYTES = 160
};

#define PART ".part"

struct chunk_directory {
    struct chunk_store store; /* the first member */
    const char *path;
};

/* The folders down to that of a file, all open, and the file's names. */
struct location {
    struct folders folders;
    char file[NAME_BYTES], part[NAME_BYTES + sizeof(PART)];
};

/* ---- errors ---- */

static enum status file_failure(const char *what, int number, struct error *err)
{
    return error_set(
        err, STATUS_UNAVAILABLE, "cannot %s a chunk in TAVOLA_BLOB_DIRECTORY: %s", what, strerror(number));
}

/* ---- folders ---- */

/* Returns 0 or an errno. ENODEV: the directory itself is missing; ENOENT: a folder below it. */
static int open_location(
    const struct chunk_directory *directory, const char *name, bool makes, struct location *out)
{
    char path[NAME_BYTES], *rest = path, *folder;
    int failure;

    out->folders.count = 0;
    if (snprintf(path, sizeof(path), "%s", name) >= (int)sizeof(path))
        return ENAMETOOLONG;
    failure = folders_open(&out->folders, directory->path);
    if (failure != 0)
        return failure == ENOENT ? ENODEV : failure;
    while (failure == 0 && out->folders.count < FOLDERS && (folder = strsep(&rest, "/")))
        failure =
            makes ? folders_make(&out->folders, folder, FOLDER_MODE) : folders_enter(&out->folders, folder);
    snprintf(out->file, sizeof(out->file), "%s", rest ? rest : "");
    snprintf(out->part, sizeof(out->part), "%s" PART, out->file);
    return failure;
}

/* ---- put ---- */

static int write_bytes(int fd, struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t written = write(fd, bytes.data, bytes.len);

        if (written < 0 && errno != EINTR)
            return errno;
        if (written > 0)
            bytes = str_from(bytes, (size_t)written);
    }
    return 0;
}

/*
 * Returns 0 or an errno. ETIME: it is too late. The part is there when the time is read, so a removal after that time
 * removes the part, which then cannot be renamed, or the file that it has become.
 */
static int write_part(const struct location *location, struct str bytes, const struct chunk_wait *wait)
{
    int failure, fd = openat(folders_last(&location->folders), location->part,
                     O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);

    if (fd < 0)
        return errno;
    failure = clock_monotonic_us() < wait->until_us ? write_bytes(fd, bytes) : ETIME;
    FAILPOINT("chunk_file.before_sync");
    if (failure == 0 && fsync(fd) != 0)
        failure = errno;
    if (close(fd) != 0 && failure == 0)
        failure = errno;
    return failure;
}

static int write_file(const struct location *location, struct str bytes, const struct chunk_wait *wait)
{
    int folder = folders_last(&location->folders), failure = write_part(location, bytes, wait);

    FAILPOINT("chunk_file.before_rename");
    if (failure == 0 && renameat(folder, location->part, folder, location->file) != 0)
        failure = errno;
    if (failure != 0) {
        (void)unlinkat(folder, location->part, 0);
        return failure;
    }
    FAILPOINT("chunk_file.after_rename");
    return folders_flush(&location->folders);
}

static enum status put_file(struct chunk_store *store, const char *name, struct str bytes,
    const struct chunk_wait *wait, struct error *err)
{
    struct location location;
    int failure = open_location((const struct chunk_directory *)store, name, true, &location);

    if (failure == 0)
        failure = write_file(&location, bytes, wait);
    folders_close(&location.folders);
    return failure == 0 ? STATUS_OK : file_failure("write", failure, err);
}

/* ---- get ---- */

/* Returns 0 or an errno; EFBIG: there are more bytes than *out can have. */
static int read_bytes(int fd, size_t max_bytes, char *bytes, size_t *out)
{
    size_t len = 0;

    while (len <= max_bytes) {
        ssize_t got = read(fd, bytes + len, max_bytes + 1 - len);

        if (got < 0 && errno != EINTR)
            return errno;
        if (got == 0) {
            *out = len;
            return 0;
        }
        len += got > 0 ? (size_t)got : 0;
    }
    return EFBIG;
}

static int read_file(const struct location *location, size_t max_bytes, char *bytes, size_t *out)
{
    int failure, fd = openat(folders_last(&location->folders), location->file,
                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return errno;
    failure = read_bytes(fd, max_bytes, bytes, out);
    close(fd);
    return failure;
}

static enum status get_file(struct chunk_store *store, const char *name, const struct chunk_wait *wait,
    struct arena *arena, struct str *out, struct error *err)
{
    char *bytes = arena_alloc(arena, CHUNK_STORE_MAX_BYTES + 1);
    struct location location;
    size_t len = 0;
    int failure = open_location((const struct chunk_directory *)store, name, false, &location);

    (void)wait;
    if (failure == 0)
        failure = read_file(&location, CHUNK_STORE_MAX_BYTES, bytes, &len);
    folders_close(&location.folders);
    if (failure == ENOENT)
        return error_set(err, STATUS_NOT_FOUND, "there is no such chunk");
    if (failure == EFBIG)
        return error_set(err, STATUS_LIMIT, "the chunk is too large");
    if (failure != 0)
        return file_failure("read", failure, err);
    *out = str_of_bytes(bytes, len);
    return STATUS_OK;
}

/* ---- remove ---- */

static int remove_names(const struct location *location)
{
    const char *const names[] = { location->part, location->file };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (unlinkat(folders_last(&location->folders), names[i], 0) != 0 && errno != ENOENT)
            return errno;
    return fsync(folders_last(&location->folders)) == 0 ? 0 : errno;
}

static enum status remove_file(
    struct chunk_store *store, const char *name, const struct chunk_wait *wait, struct error *err)
{
    struct location location;
    int failure = open_location((const struct chunk_directory *)store, name, false, &location);

    (void)wait;
    if (failure == 0)
        failure = remove_names(&location);
    folders_close(&location.folders);
    return failure == 0 || failure == ENOENT ? STATUS_OK : file_failure("remove", failure, err);
}

/* ---- all ---- */

static void free_directory(struct chunk_store *store)
{
    free(store);
}

static const struct chunk_store_calls calls = {
    .put = put_file, .get = get_file, .remove = remove_file, .close = free_directory
};

struct chunk_store *chunk_directory_open(const char *path)
{
    struct chunk_directory *directory = xcalloc(1, sizeof(*directory));

    *directory = (struct chunk_directory){ { &calls }, path };
    return &directory->store;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c - see the header. A new file has no name until its content is on disk, and then gets its name by link(),
 * which fails if the name is taken. So a worker that stops leaves no part of a file, and one that wakes up late can
 * neither replace a file nor show a torn one.
 */
#include "workers/effects/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/folders.h"
#include "base/random.h"
#include "domain/reason.h"
#include "domain/transactions/file_path.h"

enum {
    FOLDER_MODE = 0750,
    FILE_MODE = 0640,
    COMPARED_BYTES = 16384,
    NAME_BYTES = FILE_PATH_PART_BYTES + 1,
};

_Static_assert((int)FOLDERS_MAX >= FILE_PATH_PARTS + 1, "the root, the account's, those of the path");

/* The folders from the root to that of the file, all open, and the file's name. */
struct location {
    struct folders folders;
    char name[NAME_BYTES];
};

/* ---- errors ---- */

static enum status file_failure(const char *what, int number, enum delivery_cause *cause, struct error *err)
{
    bool is_blocked = number == ELOOP || number == ENOTDIR || number == EISDIR || number == ENAMETOOLONG;
    bool is_full = number == ENOSPC || number == EDQUOT || number == EFBIG;

    *cause = is_blocked ? DELIVERY_FINAL : DELIVERY_OF_OUTSIDE;
    return reason_set(err,
        is_blocked ? REASON_FILE_PATH_BLOCKED
        : is_full  ? REASON_FILE_STORAGE_FULL
                   : REASON_FILE_STORAGE_FAILED,
        "cannot %s: %s", what, strerror(number));
}

/* ---- folders ---- */

/* Open a folder in the last one that is open, and make it if it is missing. Returns 0 or an errno. */
static int enter_folder(struct location *location, struct str part)
{
    char name[NAME_BYTES];

    if (part.len == 0 || part.len >= sizeof(name) || part.data[0] == '.' || memchr(part.data, '/', part.len))
        return ENOTDIR;
    snprintf(name, sizeof(name), "%.*s", STR_ARG(part));
    return folders_make(&location->folders, name, FOLDER_MODE);
}

/* Guard G51: each part is opened in the folder before it, and none is followed if it is a link. */
static int open_location(const struct files_address *at, struct location *location)
{
    struct str rest = at->path, part = str_take(&rest, '/');
    int failure = folders_open(&location->folders, at->root);

    if (failure == 0)
        failure = enter_folder(location, at->account);
    for (; failure == 0 && rest.len > 0; part = str_take(&rest, '/'))
        failure = enter_folder(location, part);
    snprintf(location->name, sizeof(location->name), "%.*s", STR_ARG(part));
    return failure;
}

/* ---- files ---- */

/* Write the content from the offset on and wait until it is on disk. Returns 0 or an errno. */
static int write_durably(int fd, struct str content, off_t offset)
{
    while (content.len > 0) {
        ssize_t written = pwrite(fd, content.data, content.len, offset);

        if (written < 0 && errno != EINTR)
            return errno;
        if (written > 0) {
            content = str_from(content, (size_t)written);
            offset += written;
        }
    }
    return fsync(fd) == 0 ? 0 : errno;
}

/* A file without a name; where the file system has none, a hidden file with a random name. */
static int open_unnamed(int folder, char name[static NAME_BYTES])
{
    int fd = openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, FILE_MODE);

    name[0] = '\0';
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    snprintf(name, NAME_BYTES, ".tavola-%016llx", (unsigned long long)random_bits());
    return openat(folder, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
}

/* Guard G16: link() never replaces what has the name. */
static int give_name(int fd, int folder, const char *hidden, const char *name)
{
    char self[64];

    if (hidden[0])
        return linkat(folder, hidden, folder, name, 0) == 0 ? 0 : errno;
    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, folder, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/* Returns 0 or an errno; EEXIST: the name is taken. */
static int make_file(const struct location *location, struct str content)
{
    int folder = folders_last(&location->folders), fd, failure;
    char hidden[NAME_BYTES];

    FAILPOINT("file.before_write");
    fd = open_unnamed(folder, hidden);
    if (fd < 0)
        return errno;
    failure = write_durably(fd, content, 0);
    FAILPOINT("file.before_name");
    if (failure == 0)
        failure = give_name(fd, folder, hidden, location->name);
    FAILPOINT("file.after_name");
    if (hidden[0])
        (void)unlinkat(folder, hidden, 0);
    close(fd);
    return failure;
}

/* Whether the file has this content; 0, EEXIST if it has another, or an errno. */
static int compare_file(int fd, struct str content)
{
    char bytes[COMPARED_BYTES];
    struct stat stat;

    if (fstat(fd, &stat) != 0)
        return errno;
    if (!S_ISREG(stat.st_mode) || (uint64_t)stat.st_size != content.len)
        return EEXIST;
    while (content.len > 0) {
        ssize_t got = read(fd, bytes, content.len < sizeof(bytes) ? content.len : sizeof(bytes));

        if (got < 0 && errno != EINTR)
            return errno;
        if (got == 0 || (got > 0 && memcmp(bytes, content.data, (size_t)got) != 0))
            return EEXIST;
        if (got > 0)
            content = str_from(content, (size_t)got);
    }
    return fsync(fd) == 0 ? 0 : errno;
}

/* O_NONBLOCK: a pipe with this name must not hold the worker up. */
static int compare_named(const struct location *location, struct str content)
{
    int fd = openat(
        folders_last(&location->folders), location->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int failure;

    if (fd < 0)
        return errno;
    failure = compare_file(fd, content);
    close(fd);
    return failure;
}

static enum status write_at(
    const struct location *location, struct str content, enum delivery_cause *cause, struct error *err)
{
    int failure = compare_named(location, content);

    if (failure == ENOENT) {
        failure = make_file(location, content);
        if (failure == EEXIST) /* another worker was faster */
            failure = compare_named(location, content);
    }
    if (failure == EEXIST) {
        *cause = DELIVERY_FINAL;
        return reason_set(err, REASON_FILE_EXISTS, "there is a file of this name with other content");
    }
    if (failure == 0)
        failure = folders_flush(&location->folders);
    return failure == 0 ? STATUS_OK : file_failure("write the file", failure, cause, err);
}

enum status files_write(
    const struct files_address *at, struct str content, enum delivery_cause *cause, struct error *err)
{
    struct location location;
    int failure = open_location(at, &location);
    enum status status;

    *cause = DELIVERY_OF_OUTSIDE;
    if (failure == 0)
        status = write_at(&location, content, cause, err);
    else
        status = file_failure("open the file's folder", failure, cause, err);
    folders_close(&location.folders);
    return status;
}

/* ---- append ---- */

/*
 * Guard G53: what is in the range is a part of this content, from an earlier attempt, or zeros, where later ranges were
 * written first. Other bytes are another program's. 0, EEXIST, or an errno.
 */
static int compare_range(int fd, struct str content, off_t offset)
{
    char bytes[COMPARED_BYTES];

    while (content.len > 0) {
        ssize_t got = pread(fd, bytes, content.len < sizeof(bytes) ? content.len : sizeof(bytes), offset);

        if (got < 0 && errno != EINTR)
            return errno;
        if (got == 0)
            return 0;
        for (ssize_t i = 0; i < got; i++)
            if (bytes[i] != '\0' && bytes[i] != content.data[i])
                return EEXIST;
        if (got > 0) {
            content = str_from(content, (size_t)got);
            offset += got;
        }
    }
    return 0;
}

/* EEXIST: the file is not what steps have written. */
static int append_to(int fd, struct str content, off_t offset, off_t min_size)
{
    struct stat stat;
    int failure;

    if (fstat(fd, &stat) != 0)
        return errno;
    if (!S_ISREG(stat.st_mode))
        return ENOTDIR;
    if (stat.st_size < min_size)
        return EEXIST;
    failure = compare_range(fd, content, offset);
    FAILPOINT("file.before_append");
    if (failure == 0)
        failure = write_durably(fd, content, offset);
    FAILPOINT("file.after_append");
    return failure;
}

static int append_at(const struct location *location, struct str content, off_t offset, off_t min_size)
{
    int fd = openat(folders_last(&location->folders), location->name,
        O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, FILE_MODE);
    int failure;

    if (fd < 0)
        return errno == ENXIO ? ENOTDIR : errno;
    failure = append_to(fd, content, offset, min_size);
    close(fd);
    return failure == 0 ? folders_flush(&location->folders) : failure;
}

enum status files_append(const struct files_address *at, struct str content, int64_t offset, int64_t min_size,
    enum delivery_cause *cause, struct error *err)
{
    struct location location;
    int failure = open_location(at, &location);

    *cause = DELIVERY_OF_OUTSIDE;
    if (failure == 0)
        failure = append_at(&location, content, (off_t)offset, (off_t)min_size);
    folders_close(&location.folders);
    if (failure == EEXIST) {
        *cause = DELIVERY_FINAL;
        return reason_set(err, REASON_FILE_CHANGED,
            "the file is not what was appended to it: it was cut, moved or removed, or another program has "
            "written to it");
    }
    return failure == 0 ? STATUS_OK : file_failure("append to the file", failure, cause, err);
}

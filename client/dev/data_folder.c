/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_folder.c - the folders and locks of a private stack. See data_folder.h.
 *
 * Locks are flock(2), so they vanish with the process that holds them, however it ends. The lock `programs`
 * is inherited by the children. So if a supervisor was killed, the next one waits until the children have
 * ended.
 */
#include "client/dev/data_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/dev/process.h"

#define LONGEST_SOCKET_NAME "/.s.PGSQL.5432"
#define PLAIN_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-"

enum { SOCKET_PATH_BYTES = 107, PROGRAMS_WAIT_MS = 90000, POLL_MS = 50, WALK_DESCRIPTORS = 16 };

const char *data_folder_default_path(struct arena *arena)
{
    const char *home = getenv("HOME");
    struct passwd *user;

    if (geteuid() == 0)
        return "/var/lib/tavola-dev";
    if (home && home[0] == '/')
        return arena_format(arena, "%s/.local/share/tavola", home).data;
    user = getpwuid(geteuid());
    return arena_format(arena, "%s/.local/share/tavola", user ? user->pw_dir : "/tmp").data;
}

/* ---- folders ---- */

static enum status path_error(struct error *err, const char *path)
{
    return error_set(err, STATUS_UNAVAILABLE, "%s: %s", path, strerror(errno));
}

/* Make a folder with this mode, whatever the umask is. An existing folder stays as it is. */
static enum status make_one(const char *path, mode_t mode, struct error *err)
{
    if (mkdir(path, mode) == 0)
        return chmod(path, mode) == 0 ? STATUS_OK : path_error(err, path);
    return errno == EEXIST ? STATUS_OK : path_error(err, path);
}

/* Make the folder and its parents, like mkdir -p. */
static enum status make_path(const char *path, mode_t mode, struct error *err)
{
    char copy[4096];

    if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy))
        return error_set(err, STATUS_UNAVAILABLE, "the path of the data folder is too long");
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        TRY(make_one(copy, 0755, err));
        *slash = '/';
    }
    return make_one(copy, mode, err);
}

enum status data_folder_make_child(const struct data_folder *folder, const char *path, struct error *err)
{
    struct passwd *user;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return path_error(err, path);
    if (!folder->as_root)
        return STATUS_OK;
    user = getpwnam("postgres");
    if (!user)
        return error_set(
            err, STATUS_UNAVAILABLE, "there is no user postgres: install the package postgresql");
    if (lchown(path, user->pw_uid, user->pw_gid) != 0)
        return path_error(err, path);
    return STATUS_OK;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    remove(path);
    return 0;
}

void data_folder_remove(const char *path)
{
    nftw(path, remove_one, WALK_DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static bool is_fit_for_sockets(const char *path)
{
    return strlen(path) + strlen(LONGEST_SOCKET_NAME) <= SOCKET_PATH_BYTES &&
           path[strspn(path, PLAIN_CHARACTERS)] == '\0';
}

static enum status make_temporary(
    const char *parent, struct arena *arena, const char **out, struct error *err)
{
    struct str pattern = arena_format(arena, "%s/tavola-XXXXXX", parent);
    char *path = arena_alloc(arena, pattern.len + 1);

    memcpy(path, pattern.data, pattern.len + 1);
    if (!mkdtemp(path))
        return path_error(err, path);
    *out = path;
    return STATUS_OK;
}

static enum status make_run_folder(struct data_folder *folder, struct arena *arena, struct error *err)
{
    folder->run = arena_format(arena, "%s/run", folder->data).data;
    if (!is_fit_for_sockets(folder->run)) {
        TRY(make_temporary("/tmp", arena, &folder->run, err));
        folder->run_temporary = true;
    }
    return data_folder_make_child(folder, folder->run, err);
}

static enum status make_folders(struct data_folder *folder, struct arena *arena, struct error *err)
{
    folder->postgres = arena_format(arena, "%s/postgres", folder->data).data;
    folder->redis = arena_format(arena, "%s/redis", folder->data).data;
    folder->log = arena_format(arena, "%s/log", folder->data).data;
    TRY(make_one(folder->log, 0700, err));
    TRY(data_folder_make_child(folder, folder->redis, err));
    return make_run_folder(folder, arena, err);
}

/* ---- locks ---- */

static void read_text(int fd, char *out, size_t size)
{
    ssize_t len = pread(fd, out, size - 1, 0);

    out[len > 0 ? len : 0] = '\0';
}

static enum status take_lock(struct data_folder *folder, struct arena *arena, struct error *err)
{
    const char *path = arena_format(arena, "%s/lock", folder->data).data;
    char holder[1024];

    folder->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (folder->lock < 0)
        return path_error(err, path);
    if (flock(folder->lock, LOCK_EX | LOCK_NB) != 0) {
        read_text(folder->lock, holder, sizeof(holder));
        holder[strcspn(holder, "\n")] = '\0';
        return error_set(err, STATUS_EXISTS,
            "another stack (%s) runs in %s: stop it, or set TAVOLA_DEV_DATA to another folder", holder,
            folder->data);
    }
    data_folder_describe(folder, "");
    return STATUS_OK;
}

/* Wait for the end of the last child of a supervisor that was killed. */
static enum status take_programs_lock(struct data_folder *folder, struct arena *arena, struct error *err)
{
    const char *path = arena_format(arena, "%s/programs", folder->data).data;
    int64_t deadline = clock_monotonic_us() + PROGRAMS_WAIT_MS * INT64_C(1000);
    bool told = false;

    /* not closed on exec, so that children inherit the lock */
    folder->programs = open(path, O_RDWR | O_CREAT, 0600);
    if (folder->programs < 0)
        return path_error(err, path);
    while (flock(folder->programs, LOCK_EX | LOCK_NB) != 0) {
        int signal_number;

        if (!told)
            fprintf(stderr, "dev: waiting for the programs of a stack that was killed\n");
        told = true;
        signal_number = process_wait(POLL_MS);
        if (signal_number != 0 && signal_number != SIGCHLD)
            return error_set(err, STATUS_CANCELLED, "stopped while waiting");
        if (clock_monotonic_us() > deadline)
            return error_set(err, STATUS_UNAVAILABLE,
                "programs of an earlier stack still run in %s; `fuser %s` lists them", folder->data, path);
    }
    return STATUS_OK;
}

void data_folder_describe(struct data_folder *folder, const char *text)
{
    char all[1024];
    int len = snprintf(all, sizeof(all), "pid %d\n%s", (int)getpid(), text);

    if (ftruncate(folder->lock, 0) != 0 || pwrite(folder->lock, all, (size_t)len, 0) != len)
        fprintf(stderr, "dev: cannot write the lock file: %s\n", strerror(errno));
}

bool data_folder_read_holder(const char *data, char *out, size_t size)
{
    char path[4096];
    bool held;
    int fd;

    snprintf(path, sizeof(path), "%s/lock", data);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    held = flock(fd, LOCK_SH | LOCK_NB) != 0;
    if (held)
        read_text(fd, out, size);
    close(fd);
    return held;
}

/* ---- opening and closing ---- */

/*
 * Make the data folder. As root: user postgres may pass through it; the folders inside have their own
 * permissions.
 */
static enum status make_data_folder(
    const char *data, struct arena *arena, struct data_folder *folder, struct error *err)
{
    const char *temporary = getenv("TMPDIR");
    mode_t mode = folder->as_root ? 0711 : 0700;
    char *real;

    if (!data) {
        TRY(make_temporary(temporary && temporary[0] == '/' ? temporary : "/tmp", arena, &folder->data, err));
        folder->temporary = true;
        return chmod(folder->data, mode) == 0 ? STATUS_OK : path_error(err, folder->data);
    }
    TRY(make_path(data, mode, err));
    real = realpath(data, NULL);
    if (!real)
        return path_error(err, data);
    folder->data = arena_copy(arena, str_of(real)).data;
    free(real);
    return STATUS_OK;
}

enum status data_folder_open(
    const char *data, struct arena *arena, struct data_folder *out, struct error *err)
{
    struct data_folder folder = { .as_root = geteuid() == 0, .lock = -1, .programs = -1 };
    enum status status = make_data_folder(data, arena, &folder, err);

    if (status == STATUS_OK)
        status = take_lock(&folder, arena, err);
    if (status == STATUS_OK)
        status = take_programs_lock(&folder, arena, err);
    if (status == STATUS_OK)
        status = make_folders(&folder, arena, err);
    if (status != STATUS_OK)
        data_folder_close(&folder);
    else
        *out = folder;
    return status;
}

void data_folder_close(struct data_folder *folder)
{
    if (folder->run_temporary)
        data_folder_remove(folder->run);
    if (folder->temporary)
        data_folder_remove(folder->data);
    if (folder->programs >= 0)
        close(folder->programs);
    if (folder->lock >= 0)
        close(folder->lock);
    folder->programs = folder->lock = -1;
}

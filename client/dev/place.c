/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - folders and locks of a private stack. See place.h.
 *
 * Locks are flock(2): they vanish with their holder, however it ends. The second one, `programs`, is
 * inherited by the children, so that a stack whose supervisor was killed is waited for, not run into.
 */
#include "client/dev/place.h"

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

const char *place_default_data(struct arena *arena)
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

static enum status complain(struct error *err, const char *path)
{
    return error_set(err, STATUS_UNAVAILABLE, "%s: %s", path, strerror(errno));
}

/* mkdir with this mode whatever the umask is; a folder that is there stays as it is. */
static enum status make_one(const char *path, mode_t mode, struct error *err)
{
    if (mkdir(path, mode) == 0)
        return chmod(path, mode) == 0 ? STATUS_OK : complain(err, path);
    return errno == EEXIST ? STATUS_OK : complain(err, path);
}

/* mkdir -p: the folder and those above it. */
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

enum status place_make_folder(const struct place *place, const char *path, struct error *err)
{
    struct passwd *user;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return complain(err, path);
    if (!place->as_root)
        return STATUS_OK;
    user = getpwnam("postgres");
    if (!user)
        return error_set(
            err, STATUS_UNAVAILABLE, "there is no user postgres: install the package postgresql");
    if (lchown(path, user->pw_uid, user->pw_gid) != 0)
        return complain(err, path);
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

void place_remove_folder(const char *path)
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
        return complain(err, path);
    *out = path;
    return STATUS_OK;
}

static enum status make_run_folder(struct place *place, struct arena *arena, struct error *err)
{
    place->run = arena_format(arena, "%s/run", place->data).data;
    if (!is_fit_for_sockets(place->run)) {
        TRY(make_temporary("/tmp", arena, &place->run, err));
        place->run_temporary = true;
    }
    return place_make_folder(place, place->run, err);
}

static enum status make_folders(struct place *place, struct arena *arena, struct error *err)
{
    place->postgres = arena_format(arena, "%s/postgres", place->data).data;
    place->redis = arena_format(arena, "%s/redis", place->data).data;
    place->log = arena_format(arena, "%s/log", place->data).data;
    TRY(make_one(place->log, 0700, err));
    TRY(place_make_folder(place, place->redis, err));
    return make_run_folder(place, arena, err);
}

/* ---- locks ---- */

static void read_text(int fd, char *out, size_t size)
{
    ssize_t len = pread(fd, out, size - 1, 0);

    out[len > 0 ? len : 0] = '\0';
}

static enum status take_lock(struct place *place, struct arena *arena, struct error *err)
{
    const char *path = arena_format(arena, "%s/lock", place->data).data;
    char holder[1024];

    place->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (place->lock < 0)
        return complain(err, path);
    if (flock(place->lock, LOCK_EX | LOCK_NB) != 0) {
        read_text(place->lock, holder, sizeof(holder));
        holder[strcspn(holder, "\n")] = '\0';
        return error_set(err, STATUS_EXISTS,
            "another stack (%s) runs in %s: stop it, or set TAVOLA_DEV_DATA to another folder", holder,
            place->data);
    }
    place_describe(place, "");
    return STATUS_OK;
}

/* The children of a supervisor that was killed are still stopping: wait for the last of them. */
static enum status take_programs_lock(struct place *place, struct arena *arena, struct error *err)
{
    const char *path = arena_format(arena, "%s/programs", place->data).data;
    int64_t deadline = clock_monotonic_us() + PROGRAMS_WAIT_MS * INT64_C(1000);
    bool told = false;

    place->programs = open(path, O_RDWR | O_CREAT, 0600); /* inherited on purpose */
    if (place->programs < 0)
        return complain(err, path);
    while (flock(place->programs, LOCK_EX | LOCK_NB) != 0) {
        int signal_number;

        if (!told)
            fprintf(stderr, "dev: waiting for the programs of a stack that was killed\n");
        told = true;
        signal_number = process_wait(POLL_MS);
        if (signal_number != 0 && signal_number != SIGCHLD)
            return error_set(err, STATUS_CANCELLED, "stopped while waiting");
        if (clock_monotonic_us() > deadline)
            return error_set(err, STATUS_UNAVAILABLE,
                "programs of an earlier stack still run in %s; `fuser %s` lists them", place->data, path);
    }
    return STATUS_OK;
}

void place_describe(struct place *place, const char *text)
{
    char all[1024];
    int len = snprintf(all, sizeof(all), "pid %d\n%s", (int)getpid(), text);

    if (ftruncate(place->lock, 0) != 0 || pwrite(place->lock, all, (size_t)len, 0) != len)
        fprintf(stderr, "dev: cannot write the lock file: %s\n", strerror(errno));
}

bool place_read_holder(const char *data, char *out, size_t size)
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

/* As root the way through the data folder is open, for user postgres; what is inside is closed. */
static enum status make_data_folder(
    const char *data, struct arena *arena, struct place *place, struct error *err)
{
    const char *temporary = getenv("TMPDIR");
    mode_t mode = place->as_root ? 0711 : 0700;
    char *real;

    if (!data) {
        TRY(make_temporary(temporary && temporary[0] == '/' ? temporary : "/tmp", arena, &place->data, err));
        place->temporary = true;
        return chmod(place->data, mode) == 0 ? STATUS_OK : complain(err, place->data);
    }
    TRY(make_path(data, mode, err));
    real = realpath(data, NULL);
    if (!real)
        return complain(err, data);
    place->data = arena_copy(arena, str_of(real)).data;
    free(real);
    return STATUS_OK;
}

enum status place_open(const char *data, struct arena *arena, struct place *out, struct error *err)
{
    struct place place = { .as_root = geteuid() == 0, .lock = -1, .programs = -1 };
    enum status status = make_data_folder(data, arena, &place, err);

    if (status == STATUS_OK)
        status = take_lock(&place, arena, err);
    if (status == STATUS_OK)
        status = take_programs_lock(&place, arena, err);
    if (status == STATUS_OK)
        status = make_folders(&place, arena, err);
    if (status != STATUS_OK)
        place_close(&place);
    else
        *out = place;
    return status;
}

void place_close(struct place *place)
{
    if (place->run_temporary)
        place_remove_folder(place->run);
    if (place->temporary)
        place_remove_folder(place->data);
    if (place->programs >= 0)
        close(place->programs);
    if (place->lock >= 0)
        close(place->lock);
    place->programs = place->lock = -1;
}

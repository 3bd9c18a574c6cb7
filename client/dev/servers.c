/* SPDX-License-Identifier: Apache-2.0 */
/*
 * servers.c - PostgreSQL and Redis of a private stack. See servers.h.
 *
 * A cluster is made under a temporary name, which is changed when its database exists; so a cluster whose
 * making was interrupted is made again. PostgreSQL writes "ready" into postmaster.pid when it accepts
 * connections; pg_ctl waits for the same word.
 */
#include "client/dev/servers.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/macros.h"
#include "client/dev/environment.h"

enum { POSTGRES_STOP_TIMEOUT_MS = 60000, REDIS_STOP_TIMEOUT_MS = 10000, PID_FILE_STATUS_LINE = 8 };

#define DATABASE "tavola"
#define REDIS_SERVER "/usr/bin/redis-server"
#define REDIS_TOOL "/usr/bin/redis-check-rdb"
#define POSTGRES_FOLDERS "/usr/lib/postgresql/*/bin/postgres"

/* ---- PostgreSQL ---- */

static bool read_file(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len;

    if (fd < 0)
        return false;
    len = read(fd, out, size - 1);
    close(fd);
    out[len > 0 ? len : 0] = '\0';
    return len > 0;
}

/* The number at the beginning of the text; 0: the text begins with no digit. */
static int number_of(const char *text)
{
    struct str rest = str_of(text);
    uint64_t number;

    return digits_take_unsigned(&rest, INT_MAX, &number) ? (int)number : 0;
}

/* The major version that the cluster was made with; 0: there is no cluster. */
static int cluster_version(const struct data_folder *folder, struct arena *arena)
{
    char text[16];

    if (!read_file(arena_format(arena, "%s/PG_VERSION", folder->postgres).data, text, sizeof(text)))
        return 0;
    return number_of(text);
}

static int version_in_path(const char *path)
{
    return number_of(path + strcspn(POSTGRES_FOLDERS, "*"));
}

/* The folder of the programs of this version; version 0: of the newest one. */
static enum status find_programs(int version, struct arena *arena, const char **out, struct error *err)
{
    glob_t found;
    int best = 0;

    if (glob(POSTGRES_FOLDERS, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            int one = version_in_path(found.gl_pathv[i]);

            if (one > best && (version == 0 || one == version))
                best = one;
        }
        globfree(&found);
    }
    if (best == 0 && version != 0)
        return error_set(err, STATUS_UNAVAILABLE,
            "the data was written by PostgreSQL %d, which is not installed (no /usr/lib/postgresql/%d/bin)",
            version, version);
    if (best == 0)
        return error_set(
            err, STATUS_UNAVAILABLE, "PostgreSQL is not installed (nothing matches %s)", POSTGRES_FOLDERS);
    *out = arena_format(arena, "/usr/lib/postgresql/%d/bin", best).data;
    return STATUS_OK;
}

static const char *log_of(const struct data_folder *folder, const char *name, struct arena *arena)
{
    return arena_format(arena, "%s/%s.log", folder->log, name).data;
}

static char *text_of(struct arena *arena, const char *format, const char *value)
{
    struct str text = arena_format(arena, "%s%s", format, value);

    return (char *)text.data;
}

/*
 * The cluster that tests keep as a template. Copying it takes a tenth of the time of initdb. NULL: there is
 * none.
 */
static const char *find_template(const struct postgres_options *options)
{
    const char *cluster = getenv("INITDB_TEMPLATE");

    return options->sync_first || !cluster || !*cluster ? NULL : cluster;
}

static enum status copy_cluster(const struct data_folder *folder, const char *template, const char *cluster,
    struct arena *arena, struct error *err)
{
    char *argv[] = { "cp", "-a", "--reflink=auto", "--no-target-directory", (char *)template, (char *)cluster,
        NULL };
    struct process_plan plan = {
        .name = "cp",
        .argv = argv,
        .environment = environment_for(false, NULL, 0, arena),
        .log = log_of(folder, "postgres", arena),
        .as_postgres = folder->as_root,
    };

    return process_run(&plan, err);
}

static enum status make_cluster(const struct data_folder *folder, const char *programs, bool sync_first,
    const char *cluster, struct arena *arena, struct error *err)
{
    char *initdb[] = { text_of(arena, programs, "/initdb"), "--pgdata", (char *)cluster, "--locale=C", "-E",
        "UTF8", "--username=postgres", "--auth=trust", sync_first ? NULL : "--no-sync", NULL };
    char *single[] = { text_of(arena, programs, "/postgres"), "--single", "-D", (char *)cluster, "postgres",
        NULL };
    struct process_plan plan = {
        .name = "initdb",
        .argv = initdb,
        .environment = environment_for(false, NULL, 0, arena),
        .log = log_of(folder, "postgres", arena),
        .as_postgres = folder->as_root,
    };

    TRY(process_run(&plan, err));
    plan.name = "postgres --single";
    plan.argv = single;
    plan.text = "create database " DATABASE ";\n";
    return process_run(&plan, err);
}

/* Make the rename durable. */
static void sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

enum status servers_prepare_postgres(const struct data_folder *folder, const struct postgres_options *options,
    struct arena *arena, struct error *err)
{
    const char *fresh = arena_format(arena, "%s.new", folder->postgres).data;
    const char *template = find_template(options);
    const char *programs;

    if (cluster_version(folder, arena) != 0)
        return STATUS_OK;
    TRY(find_programs(0, arena, &programs, err));
    data_folder_remove(fresh);
    TRY(data_folder_make_child(folder, fresh, err));
    if (template)
        TRY(copy_cluster(folder, template, fresh, arena, err));
    else
        TRY(make_cluster(folder, programs, options->sync_first, fresh, arena, err));
    if (rename(fresh, folder->postgres) != 0)
        return error_set(err, STATUS_UNAVAILABLE, "%s: %s", folder->postgres, strerror(errno));
    sync_folder(folder->data);
    return STATUS_OK;
}

/*
 * Append settings to the arguments, behind the others: if a setting has two values, PostgreSQL uses the last
 * one.
 */
static char **with_settings(
    char *const *argv, size_t count, const struct postgres_options *options, struct arena *arena)
{
    char **all = ARENA_ARRAY(arena, char *, count + 2 * options->setting_count + 1);

    memcpy(all, argv, count * sizeof(*all));
    for (size_t i = 0; i < options->setting_count; i++) {
        all[count++] = "-c";
        all[count++] = (char *)options->settings[i];
    }
    all[count] = NULL;
    return all;
}

enum status servers_start_postgres(const struct data_folder *folder, const struct postgres_options *options,
    struct arena *arena, struct process *out, struct error *err)
{
    const char *programs;

    TRY(find_programs(cluster_version(folder, arena), arena, &programs, err));
    {
        char *argv[] = { text_of(arena, programs, "/postgres"), "-D", (char *)folder->postgres, "-c",
            "listen_addresses=", "-c", text_of(arena, "unix_socket_directories=", folder->run), "-c",
            "unix_socket_permissions=0700", "-c", "port=5432", "-c", "max_connections=100", "-c",
            "autovacuum=on", "-c", "fsync=on", "-c", "logging_collector=off" };
        struct process_plan plan = {
            .name = "PostgreSQL",
            .argv = with_settings(argv, ARRAY_LEN(argv), options, arena),
            .environment = environment_for(false, NULL, 0, arena),
            .log = log_of(folder, "postgres", arena),
            .as_postgres = folder->as_root,
            .stop_signal = SIGINT,   /* "fast" shutdown: ends sessions and writes everything */
            .hurry_signal = SIGQUIT, /* "immediate" shutdown: the next start recovers */
            .stop_timeout_ms = POSTGRES_STOP_TIMEOUT_MS,
        };

        return process_start(&plan, out, err);
    }
}

bool servers_postgres_is_ready(const struct data_folder *folder, const struct process *process)
{
    char path[4096], text[1024];
    const char *line = text;

    snprintf(path, sizeof(path), "%s/postmaster.pid", folder->postgres);
    if (!read_file(path, text, sizeof(text)) || number_of(text) != process->pid)
        return false;
    for (int i = 1; line && i < PID_FILE_STATUS_LINE; i++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return line && strncmp(line, "ready", 5) == 0;
}

const char *servers_postgres_address(const struct data_folder *folder, struct arena *arena)
{
    return arena_format(arena, "host=%s user=postgres dbname=" DATABASE, folder->run).data;
}

/* ---- Redis ---- */

static const char *redis_socket(const struct data_folder *folder, struct arena *arena)
{
    return arena_format(arena, "%s/redis", folder->run).data;
}

const char *servers_redis_address(const struct data_folder *folder, struct arena *arena)
{
    return arena_format(arena, "unix:%s", redis_socket(folder, arena)).data;
}

/*
 * Debian's package redis-server only adds a service and a link. The program is in redis-tools, and is the
 * server if it is called redis-server. So the link is made here, and redis-server need not be installed.
 */
static enum status find_redis(
    const struct data_folder *folder, struct arena *arena, const char **out, struct error *err)
{
    const char *link = arena_format(arena, "%s/redis-server", folder->data).data;

    *out = REDIS_SERVER;
    if (access(REDIS_SERVER, X_OK) == 0)
        return STATUS_OK;
    if (access(REDIS_TOOL, X_OK) != 0)
        return error_set(err, STATUS_UNAVAILABLE, "Redis is not installed (neither %s nor %s is there)",
            REDIS_SERVER, REDIS_TOOL);
    *out = link;
    if (symlink(REDIS_TOOL, link) != 0 && errno != EEXIST)
        return error_set(err, STATUS_UNAVAILABLE, "%s: %s", link, strerror(errno));
    return STATUS_OK;
}

/* Redis stores nothing on disk: all its contents can be made again from PostgreSQL. */
enum status servers_start_redis(
    const struct data_folder *folder, struct arena *arena, struct process *out, struct error *err)
{
    const char *program;

    TRY(find_redis(folder, arena, &program, err));
    {
        char *argv[] = { (char *)program, "--port", "0", "--unixsocket", (char *)redis_socket(folder, arena),
            "--unixsocketperm", "700", "--save", "", "--appendonly", "no", "--dir", (char *)folder->redis,
            "--maxmemory-policy", "noeviction", NULL };
        struct process_plan plan = {
            .name = "Redis",
            .argv = argv,
            .environment = environment_for(false, NULL, 0, arena),
            .log = log_of(folder, "redis", arena),
            .as_postgres = folder->as_root,
            .stop_timeout_ms = REDIS_STOP_TIMEOUT_MS,
        };

        return process_start(&plan, out, err);
    }
}

static int connect_unix(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct timeval second = { .tv_sec = 1 };
    int fd;

    if (strlen(path) >= sizeof(address.sun_path))
        return -1;
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

bool servers_redis_is_ready(const struct data_folder *folder)
{
    static const char ping[] = "PING\r\n", pong[] = "+PONG\r\n";
    char path[256], answer[sizeof(pong)] = "";
    bool ready;
    int fd;

    snprintf(path, sizeof(path), "%s/redis", folder->run);
    fd = connect_unix(path);
    if (fd < 0)
        return false;
    ready = write(fd, ping, sizeof(ping) - 1) == (ssize_t)sizeof(ping) - 1 &&
            read(fd, answer, sizeof(answer) - 1) == (ssize_t)sizeof(pong) - 1 && strcmp(answer, pong) == 0;
    close(fd);
    return ready;
}

/* ---- addresses ---- */

static bool connects(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
    bool connected = fd >= 0 && connect(fd, address->ai_addr, address->ai_addrlen) == 0;

    if (fd >= 0)
        close(fd);
    return connected;
}

bool servers_is_taken(const char *address)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    const char *colon = strrchr(address, ':');
    char host[256];
    bool taken = false;

    if (strncmp(address, "unix:", 5) == 0) {
        int fd = connect_unix(address + 5);

        if (fd >= 0)
            close(fd);
        return fd >= 0;
    }
    if (!colon)
        return false;
    if (address[0] == '[')
        snprintf(host, sizeof(host), "%.*s", (int)(colon - address - 2), address + 1);
    else
        snprintf(host, sizeof(host), "%.*s", (int)(colon - address), address);
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
        return false;
    for (struct addrinfo *one = found; one && !taken; one = one->ai_next)
        taken = connects(one);
    freeaddrinfo(found);
    return taken;
}

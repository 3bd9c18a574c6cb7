/* SPDX-License-Identifier: Apache-2.0 */
/* redis_server.c - fork and exec; a parent-death signal ends the server of a test that crashes. */
#include "tests/support/redis_server.h"

#include <check.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { START_LIMIT_US = 60 * 1000 * 1000, POLL_US = 2 * 1000 };

static const char *socket_path(const struct redis_server *server)
{
    return server->url + sizeof("unix:") - 1;
}

static void run_server(const struct redis_server *server)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || chdir(server->folder) != 0)
        _exit(126);
    if (!freopen("log", "a", stdout))
        _exit(126);
    /* One program with several names: the package redis-tools has it only under the second one. */
    execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket_path(server), "--save", "",
        "--appendonly", "no", "--maxmemory-policy", "noeviction", (char *)NULL);
    execlp("redis-check-rdb", "redis-server", "--port", "0", "--unixsocket", socket_path(server), "--save",
        "", "--appendonly", "no", "--maxmemory-policy", "noeviction", (char *)NULL);
    _exit(127);
}

static int answers(const struct redis_server *server)
{
    redisContext *connection = redisConnectUnix(socket_path(server));
    redisReply *reply = NULL;
    int ready;

    if (connection && !connection->err)
        reply = redisCommand(connection, "PING");
    ready = reply && reply->type == REDIS_REPLY_STATUS;
    if (reply)
        freeReplyObject(reply);
    redisFree(connection);
    return ready;
}

static void launch(struct redis_server *server)
{
    int64_t deadline = clock_monotonic_us() + START_LIMIT_US;

    unlink(socket_path(server));
    server->pid = fork();
    ck_assert_int_ge(server->pid, 0);
    if (server->pid == 0)
        run_server(server);
    while (!answers(server)) {
        ck_assert_msg(clock_monotonic_us() < deadline, "redis-server does not answer");
        ck_assert_msg(waitpid(server->pid, NULL, WNOHANG) == 0, "redis-server has ended by itself");
        clock_sleep(POLL_US);
    }
}

void redis_server_start(struct redis_server *server)
{
    signal(SIGPIPE, SIG_IGN);
    *server = (struct redis_server){ .pid = 0 };
    temporary_folder_make("tavola-redis-", server->folder, sizeof(server->folder));
    snprintf(server->url, sizeof(server->url), "unix:%s/s", server->folder);
    launch(server);
}

void redis_server_kill(struct redis_server *server)
{
    if (server->pid <= 0)
        return;
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    server->pid = 0;
}

void redis_server_restart(struct redis_server *server)
{
    redis_server_kill(server);
    launch(server);
}

void redis_server_stop(struct redis_server *server)
{
    redis_server_kill(server);
    temporary_folder_remove(server->folder);
}

long long redis_server_command(struct redis_server *server, const char *word, ...)
{
    enum { MAX_WORDS = 32 };
    const char *words[MAX_WORDS];
    int count = 0;
    va_list args;
    redisContext *connection = redisConnectUnix(socket_path(server));
    redisReply *reply;
    long long number;

    va_start(args, word);
    for (; word && count < MAX_WORDS; word = va_arg(args, const char *))
        words[count++] = word;
    va_end(args);
    ck_assert_msg(connection && !connection->err, "no connection to Redis");
    reply = redisCommandArgv(connection, count, words, NULL);
    ck_assert_msg(reply && reply->type != REDIS_REPLY_ERROR, "%s: %s", words[0], reply ? reply->str : "");
    number = reply->integer;
    freeReplyObject(reply);
    redisFree(connection);
    return number;
}

long long redis_server_script_calls(struct redis_server *server)
{
    return redis_server_command(server, "EVAL",
        "return tonumber(string.match(redis.call('INFO', 'commandstats'), 'cmdstat_evalsha:calls=(%d+)') or "
        "0)",
        "0", NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - tavola-worker: settings, limits, run.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "workers/config.h"
#include "workers/process.h"

/* As many files as the system lets us have: every thread keeps two connections. */
static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        log_write(LOG_WARN, "file_limit_kept", NULL);
}

static const char *default_name(char *room, size_t size)
{
    char host[64] = "worker";

    if (gethostname(host, sizeof(host)) != 0)
        snprintf(host, sizeof(host), "worker");
    host[sizeof(host) - 1] = '\0';
    snprintf(room, size, "%s-%ld", host, (long)getpid());
    return room;
}

int main(int argc, char **argv)
{
    struct worker_config config;
    char name[96];
    int exit_code;

    memory_keep();
    if (!config_start(&worker_program, argc, argv, &config, &exit_code))
        return exit_code;
    if (!config.name)
        config.name = default_name(name, sizeof(name));
    log_settings_apply(&config.log, worker_program.name);
    raise_file_limit();
    return process_run_worker(&config);
}

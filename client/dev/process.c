/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c - children by fork and exec. See process.h.
 *
 * If the supervisor runs as root, a child that must not be root is started through setpriv(1). The kernel
 * clears the parent-death signal when the user changes, so setpriv sets it again afterwards.
 */
#include "client/dev/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macros.h"

enum { MAX_ARGUMENTS = 64, TAIL_BYTES = 4096, TAIL_LINES = 15, POLL_MS = 50, EXIT_NOT_STARTED = 127 };

static void fill_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGCHLD);
}

void process_catch_signals(void)
{
    sigset_t set;

    fill_signals(&set);
    /* if the parent ignored SIGCHLD, the kernel would discard the ends of our children */
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int process_wait(int64_t timeout_ms)
{
    struct timespec time = clock_timespec(timeout_ms * 1000);
    sigset_t set;
    int signal_number;

    fill_signals(&set);
    signal_number = sigtimedwait(&set, NULL, &time);
    return signal_number > 0 ? signal_number : 0;
}

/* ---- starting ---- */

/* Return a descriptor from which the text can be read. */
static int open_input(const char *text)
{
    int fd;

    if (!text)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    fd = memfd_create("input", MFD_CLOEXEC);
    if (fd >= 0 && (write(fd, text, strlen(text)) != (ssize_t)strlen(text) || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Build the arguments; if another user is wanted, they begin with setpriv. */
static void build_arguments(const struct process_plan *plan, char *death_signal, char **out)
{
    static char *const setpriv[] = { "setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups",
        "--inh-caps=-all", "--pdeathsig" };
    size_t count = 0;

    if (plan->as_postgres) {
        for (size_t i = 0; i < ARRAY_LEN(setpriv); i++)
            out[count++] = setpriv[i];
        out[count++] = death_signal;
        out[count++] = "--";
    }
    for (size_t i = 0; plan->argv[i] && count < MAX_ARGUMENTS - 1; i++)
        out[count++] = plan->argv[i];
    out[count] = NULL;
}

/* Runs in the child: only calls that are safe between fork and exec. */
_Noreturn static void become(
    const struct process_plan *plan, char **argv, int input, int output, pid_t parent, int death_signal)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (!plan->foreground) {
        setsid();
        if (chdir("/") != 0 || dup2(input, STDIN_FILENO) < 0)
            _exit(EXIT_NOT_STARTED);
    }
    if (output > 0 && (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0))
        _exit(EXIT_NOT_STARTED);
    prctl(PR_SET_PDEATHSIG, death_signal);
    if (getppid() != parent)
        _exit(EXIT_NOT_STARTED); /* the supervisor died before the parent-death signal was set */
    execvpe(argv[0], argv, plan->environment);
    dprintf(STDERR_FILENO, "%s: cannot be started: %s\n", argv[0], strerror(errno));
    _exit(EXIT_NOT_STARTED);
}

enum status process_start(const struct process_plan *plan, struct process *out, struct error *err)
{
    char *argv[MAX_ARGUMENTS];
    char death_name[16];
    int death_signal = plan->stop_signal ? plan->stop_signal : SIGTERM;
    int input = plan->foreground ? -1 : open_input(plan->text);
    int output = plan->output;
    pid_t parent = getpid();
    struct stat log = { 0 };

    snprintf(death_name, sizeof(death_name), "%s", sigabbrev_np(death_signal));
    build_arguments(plan, death_name, argv);
    if (plan->log)
        output = open(plan->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (output < 0 || (plan->log && fstat(output, &log) != 0) || (!plan->foreground && input < 0)) {
        error_set(err, STATUS_UNAVAILABLE, "%s: %s: %s", plan->name, plan->log ? plan->log : "its input",
            strerror(errno));
        if (input >= 0)
            close(input);
        if (plan->log && output >= 0)
            close(output);
        return STATUS_UNAVAILABLE;
    }
    *out = (struct process){
        .name = plan->name,
        .log = plan->log,
        .log_start = log.st_size,
        .stop_signal = death_signal,
        .hurry_signal = plan->hurry_signal ? plan->hurry_signal : SIGKILL,
        .stop_timeout_ms = plan->stop_timeout_ms,
    };
    out->pid = fork();
    if (out->pid == 0)
        become(plan, argv, input, output, parent, death_signal);
    if (plan->log)
        close(output);
    if (input >= 0)
        close(input);
    if (out->pid < 0) {
        out->pid = 0;
        return error_set(err, STATUS_UNAVAILABLE, "%s: cannot fork: %s", plan->name, strerror(errno));
    }
    return STATUS_OK;
}

/* ---- watching and stopping ---- */

bool process_is_running(struct process *process)
{
    if (process->pid == 0 || process->ended)
        return false;
    if (waitpid(process->pid, &process->wait_status, WNOHANG) == process->pid)
        process->ended = true;
    return !process->ended;
}

enum status process_run(const struct process_plan *plan, struct error *err)
{
    struct process process;
    char end[64];

    TRY(process_start(plan, &process, err));
    while (waitpid(process.pid, &process.wait_status, 0) < 0 && errno == EINTR)
        ;
    process.ended = true;
    if (process_exit_code(&process) == 0)
        return STATUS_OK;
    process_describe_end(&process, end, sizeof(end));
    process_print_tail(&process, stderr);
    return error_set(err, STATUS_INTERNAL, "%s %s", plan->name, end);
}

/* Wait for the process to end. A signal other than SIGCHLD ends the wait. */
static bool wait_for_end(struct process *process, int64_t stop_timeout_ms)
{
    int64_t deadline = clock_monotonic_us() + stop_timeout_ms * 1000;

    while (process_is_running(process)) {
        int signal_number;

        if (clock_monotonic_us() >= deadline)
            return false;
        signal_number = process_wait(POLL_MS);
        if (signal_number != 0 && signal_number != SIGCHLD)
            deadline = 0;
    }
    return true;
}

void process_stop(struct process *process)
{
    if (!process_is_running(process))
        return;
    kill(process->pid, process->stop_signal);
    if (wait_for_end(process, process->stop_timeout_ms))
        return;
    fprintf(stderr, "dev: %s does not stop: sending signal %d\n", process->name, process->hurry_signal);
    kill(process->pid, process->hurry_signal);
    if (wait_for_end(process, process->stop_timeout_ms))
        return;
    kill(process->pid, SIGKILL);
    while (process_is_running(process))
        process_wait(POLL_MS);
}

/* ---- telling ---- */

void process_describe_end(const struct process *process, char *out, size_t size)
{
    if (WIFSIGNALED(process->wait_status))
        snprintf(out, size, "was killed by signal %d (%s)", WTERMSIG(process->wait_status),
            strsignal(WTERMSIG(process->wait_status)));
    else
        snprintf(out, size, "ended with exit code %d", WEXITSTATUS(process->wait_status));
}

int process_exit_code(const struct process *process)
{
    return WIFSIGNALED(process->wait_status) ? 128 + WTERMSIG(process->wait_status)
                                             : WEXITSTATUS(process->wait_status);
}

/* The last lines of a text. */
static const char *last_lines(const char *text, size_t len)
{
    size_t lines = 0;

    for (size_t i = len; i > 0; i--)
        if (text[i - 1] == '\n' && i < len && ++lines == TAIL_LINES)
            return text + i;
    return text;
}

void process_print_tail(const struct process *process, FILE *out)
{
    char text[TAIL_BYTES];
    const char *from;
    ssize_t len = 0;
    off_t end;
    int fd;

    if (!process->log)
        return;
    fd = open(process->log, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    end = lseek(fd, 0, SEEK_END);
    if (end > process->log_start) {
        off_t start = end - TAIL_BYTES > process->log_start ? end - TAIL_BYTES : process->log_start;

        len = pread(fd, text, sizeof(text), start);
    }
    close(fd);
    if (len <= 0) {
        fprintf(out, "dev: %s wrote nothing to %s\n", process->name, process->log);
        return;
    }
    from = last_lines(text, (size_t)len);
    fprintf(out, "dev: the last lines of %s:\n", process->log);
    fwrite(from, 1, (size_t)(text + len - from), out);
}

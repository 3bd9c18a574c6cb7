/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_locks.c - see the header.
 *
 * Debian builds Abseil without NDEBUG. Such a build notes the order in which each thread takes the mutexes of gRPC's
 * core, in one graph for the process, to report deadlocks that are possible. That is a tenth of the server's processor
 * time. Abseil has a function that switches it off, for C++ only, so it is looked up by its name in Debian's build. In
 * other builds the name is another one; those without the checks do not need it.
 */
#include "rpc/core_locks.h"

#include <dlfcn.h>
#include <string.h>

enum { ON_DEADLOCK_CYCLE_IGNORE = 0 };

typedef void set_mode_fn(int mode);

void core_locks_unchecked(void)
{
    void *found =
        dlsym(RTLD_DEFAULT, "_ZN4absl7debian329SetMutexDeadlockDetectionModeENS0_15OnDeadlockCycleE");
    set_mode_fn *set_mode;

    if (!found)
        return;
    memcpy(&set_mode, &found, sizeof(set_mode));
    set_mode(ON_DEADLOCK_CYCLE_IGNORE);
}

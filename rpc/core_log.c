/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_log.c - see the header. GRPC_VERBOSITY still selects what the core logs: only errors, if it is not
 * set.
 */
#include "rpc/core_log.h"

#include <grpc/support/log.h>

#include "base/log.h"

static enum log_level level_of(gpr_log_severity severity)
{
    switch (severity) {
    case GPR_LOG_SEVERITY_DEBUG:
        return LOG_DEBUG;
    case GPR_LOG_SEVERITY_INFO:
        return LOG_INFO;
    case GPR_LOG_SEVERITY_ERROR:
        return LOG_ERROR;
    }
    return LOG_ERROR;
}

static void core_said(gpr_log_func_args *said)
{
    log_event(level_of(said->severity), "grpc", log_text("file", said->file), log_number("line", said->line),
        log_text("why", said->message));
}

void core_log_take_over(void)
{
    gpr_set_log_function(core_said);
}

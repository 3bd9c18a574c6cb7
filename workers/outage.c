/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outage.c - see the header.
 */
#include "workers/outage.h"

#include "base/log.h"

void outage_failed(struct log_repeat *outage, const char *event, const struct error *err, int64_t now_us)
{
    if (log_repeat_failed(outage, err->message, now_us))
        log_event(LOG_WARN, event, log_text("status", status_name(err->status)),
            log_text("sqlstate", err->sqlstate), log_text("why", err->message),
            log_number("failures", outage->failures));
}

void outage_worked(struct log_repeat *outage, const char *event, int64_t now_us)
{
    struct log_repeat ended;

    if (log_repeat_worked(outage, now_us, &ended))
        log_event(LOG_INFO, event, log_text("status", status_name(STATUS_OK)),
            log_number("failures", ended.failures),
            log_number("lasted_s", (now_us - ended.first_us) / 1000000));
}

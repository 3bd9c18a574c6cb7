/* SPDX-License-Identifier: Apache-2.0 */
/* lag_work.c - see the header. */
#include "store/intents/lag_work.h"

#include "store/session/worker_attempt.h"

static enum status read_behind(struct session *session, void *context, struct error *err)
{
    struct lag_seen seen = { 0 };

    TRY(lag_read(session, &seen, err));
    *(struct lag *)context = seen.behind;
    return STATUS_OK;
}

enum status lag_work_read(struct worker *store, struct lag *out, struct error *err)
{
    return worker_attempt(store, read_behind, out, err);
}

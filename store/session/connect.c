/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect.c - session_ensure, session_connect_early: make a connection, and read the catalogue
 * after its epoch was checked. They are not in session.c because raising the epoch is a catalogue
 * change, which needs a session.
 */
#include "base/random.h"
#include "store/session/epoch.h"
#include "store/session/session.h"

enum status session_ensure(struct session *session, struct error *err)
{
    TRY(pg_ensure(&session->pg, err));
    if (session->known != session->pg.connects || !session->catalogue) {
        TRY(session_reload(session, err));
        session->connection_id = (int64_t)(random_bits() & INT64_MAX);
        session->intent_origin = (uint32_t)random_bits();
        session->marker_number = session->markers_from = 0;
        TRY(epoch_ensure(session, err));
        session->known = session->pg.connects;
    }
    return STATUS_OK;
}

void session_connect_early(struct session *session)
{
    struct error ignored;

    if (session_ensure(session, &ignored) != STATUS_OK)
        pg_recover(&session->pg);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_reads.c - see the header.
 */
#include "store/indexes/source_reads.h"

#include "store/indexes/taken_traces.h"
#include "store/sql.h"

static bool has_intent_ctid(const struct source_key *key)
{
    return row_ctid_is_known(&key->ctids.intent);
}

static bool lacks_intent_ctid(const struct source_key *key)
{
    return !has_intent_ctid(key);
}

static bool has_source_ctid(const struct source_key *key)
{
    return row_ctid_is_known(&key->ctids.source);
}

static bool lacks_source_ctid(const struct source_key *key)
{
    return !has_source_ctid(key);
}

/* The intent was not at its ctid: it is done, or the ctid was wrong. */
static bool lost_intent(const struct source_key *key)
{
    return has_intent_ctid(key) && !key->is_open;
}

/* The source was not at its ctid, or it was read before the intents of its key are taken (guard G9). */
static bool lost_source(const struct source_key *key)
{
    return lost_intent(key) || (has_source_ctid(key) && !key->is_read);
}

/* What a flight asks about: an empty list has no statement. */
struct flight {
    struct key_list intents_by_ctid, intents_by_key, sources_by_ctid, sources_by_key;
    bool has_dead_letters;
    enum source_read by_key; /* where the sources that are read by key go */
};

static struct flight first_flight(const struct source_keys *keys, struct arena *arena)
{
    return (struct flight){ .intents_by_ctid = source_keys_list(keys, has_intent_ctid, arena),
        .intents_by_key = source_keys_list(keys, lacks_intent_ctid, arena),
        .has_dead_letters = true,
        .sources_by_ctid = source_keys_list(keys, has_source_ctid, arena),
        .sources_by_key = source_keys_list(keys, lacks_source_ctid, arena),
        .by_key = SOURCE_READ_BY_KEY };
}

/* The rows that were not at their ctids. */
static struct flight second_flight(const struct source_keys *keys, struct arena *arena)
{
    struct flight flight = { .intents_by_key = source_keys_list(keys, lost_intent, arena),
        .sources_by_key = source_keys_list(keys, lost_source, arena),
        .by_key = SOURCE_READ_AGAIN };

    for (size_t i = 0; i < flight.sources_by_key.count; i++)
        flight.sources_by_key.keys[i]->source = (struct row_state){ 0 };
    return flight;
}

/* ---- sending ---- */

static void add_ctids(struct key_list list, bool of_intents, struct arena *arena, struct pg_params *params)
{
    struct pg_array ctids;

    pg_array_init(&ctids, arena, PG_TID);
    for (size_t i = 0; i < list.count; i++)
        pg_array_bytes(
            &ctids, row_ctid_bytes(of_intents ? &list.keys[i]->ctids.intent : &list.keys[i]->ctids.source));
    pg_add_array(params, &ctids);
}

static enum status send_taking_by_ctid(struct session *session, struct key_list list, struct error *err)
{
    struct pg_params params;

    if (list.count == 0)
        return STATUS_OK;
    source_keys_list_params(list, &session->arena, &params);
    pg_add_int2(&params, INTENT_RECONCILE);
    add_ctids(list, true, &session->arena, &params);
    return pg_send(&session->pg, &sql_intent_take_at, &params, err);
}

static enum status send_taking_by_key(
    struct session *session, struct key_list list, bool is_traced, struct error *err)
{
    if (list.count == 0)
        return STATUS_OK;
    return source_keys_send_intents(
        session, list, is_traced ? &sql_intent_take_traced : &sql_intent_take, err);
}

static enum status send_sources_by_ctid(
    struct session *session, struct key_list list, int32_t max_bytes, struct error *err)
{
    struct pg_params params;

    if (list.count == 0)
        return STATUS_OK;
    source_keys_list_params(list, &session->arena, &params);
    pg_add_int4(&params, max_bytes);
    add_ctids(list, false, &session->arena, &params);
    return pg_send(&session->pg, &sql_source_get_at, &params, err);
}

static enum status send_sources_by_key(struct session *session, const struct source_keys *keys,
    struct key_list list, int32_t max_bytes, struct error *err)
{
    struct pg_params params;

    if (list.count == 0)
        return STATUS_OK;
    source_keys_list_params(list, &session->arena, &params);
    pg_add_int4(&params, max_bytes);
    source_keys_add_names(keys, &session->arena, &params);
    return pg_send(&session->pg, &sql_source_get, &params, err);
}

static enum status send_dead_letters(
    struct session *session, const struct source_keys *keys, struct error *err)
{
    struct pg_params params;

    source_keys_params(keys, &session->arena, &params);
    return pg_send(&session->pg, &sql_dead_letter_of_keys, &params, err);
}

enum status source_reads_send_by_key(
    struct session *session, const struct source_keys *keys, int32_t max_bytes, struct error *err)
{
    return send_sources_by_key(session, keys, source_keys_list(keys, NULL, &session->arena), max_bytes, err);
}

/* The intents are taken before the sources are read (guard G9). */
static enum status send_statements(struct session *session, const struct source_keys *keys,
    const struct flight *flight, int32_t max_bytes, bool is_traced, struct error *err)
{
    TRY(send_taking_by_ctid(session, flight->intents_by_ctid, err));
    TRY(send_taking_by_key(session, flight->intents_by_key, is_traced, err));
    if (flight->has_dead_letters)
        TRY(send_dead_letters(session, keys, err));
    TRY(send_sources_by_ctid(session, flight->sources_by_ctid, max_bytes, err));
    return send_sources_by_key(session, keys, flight->sources_by_key, max_bytes, err);
}

/* ---- taking the answers ---- */

static enum status take_intents(struct session *session, struct key_list list, struct taken_traces *traces,
    int64_t *taken, struct error *err)
{
    PG_RESULT intents = NULL;

    if (list.count == 0)
        return STATUS_OK;
    TRY(pg_next(&session->pg, &intents, err));
    source_keys_mark_open(list, intents);
    *taken += PQntuples(intents);
    if (traces)
        taken_traces_add(traces, intents);
    return STATUS_OK;
}

/* Borrows from the result, since properties are large. */
static bool fill_sources(struct key_list list, const PGresult *result)
{
    bool is_whole = true;

    for (int i = 0; i < PQntuples(result); i++) {
        struct source_key *key = list.keys[pg_int8(result, i, SOURCE_N) - 1];

        key->is_read = true;
        key->source = (struct row_state){
            .live = !pg_bool(result, i, SOURCE_DEAD),
            .version = pg_int8(result, i, SOURCE_VERSION),
            .ts = pg_int8(result, i, SOURCE_TS),
            .properties = { pg_bytes(result, i, SOURCE_PROPERTIES) },
            .expires = pg_int8(result, i, SOURCE_EXPIRES),
        };
        is_whole = is_whole && !PQgetisnull(result, i, SOURCE_PROPERTIES);
    }
    return is_whole;
}

bool source_reads_fill(struct source_keys *keys, const PGresult *sources, struct arena *arena)
{
    return fill_sources(source_keys_list(keys, NULL, arena), sources);
}

static enum status take_sources(struct session *session, struct key_list list, PGresult **result,
    struct source_reads *reads, struct error *err)
{
    if (list.count == 0)
        return STATUS_OK;
    TRY(pg_next(&session->pg, result, err));
    reads->is_whole = fill_sources(list, *result) && reads->is_whole;
    return STATUS_OK;
}

static enum status take_answers(struct session *session, const struct flight *flight,
    struct taken_traces *traces, struct source_reads *out, struct error *err)
{
    TRY(take_intents(session, flight->intents_by_ctid, NULL, &out->intents_taken, err));
    TRY(take_intents(session, flight->intents_by_key, traces, &out->intents_taken, err));
    if (flight->has_dead_letters)
        TRY(pg_next(&session->pg, &out->dead_letters, err));
    TRY(take_sources(session, flight->sources_by_ctid, &out->sources[SOURCE_READ_BY_CTID], out, err));
    return take_sources(session, flight->sources_by_key, &out->sources[flight->by_key], out, err);
}

/* The traces name the keys by their positions among all of them, so one statement has to take all intents. */
static void forget_intents(struct source_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        keys->keys[i].ctids.intent = (struct row_ctid){ { 0 } };
}

/* ---- the flights ---- */

struct reading {
    struct source_keys *keys;
    int32_t max_bytes;
    struct taken_traces *traces;
    size_t first_trace;
    struct source_reads *out;
    struct flight flight;
};

static enum status send_first(struct session *session, void *context, struct error *err)
{
    struct reading *reading = context;

    reading->flight = first_flight(reading->keys, &session->arena);
    return send_statements(
        session, reading->keys, &reading->flight, reading->max_bytes, reading->traces != NULL, err);
}

static enum status take_first(struct session *session, void *context, struct error *err)
{
    struct reading *reading = context;

    source_reads_clear(reading->out); /* of an earlier round */
    *reading->out = (struct source_reads){ .is_whole = true };
    if (reading->traces)
        reading->traces->count = reading->first_trace;
    return take_answers(session, &reading->flight, reading->traces, reading->out, err);
}

static enum status read_missed(struct session *session, struct reading *reading, struct error *err)
{
    struct flight flight = second_flight(reading->keys, &session->arena);

    if (flight.sources_by_key.count == 0)
        return STATUS_OK;
    TRY(send_statements(session, reading->keys, &flight, reading->max_bytes, false, err));
    TRY(pg_sync(&session->pg, err));
    TRY(take_answers(session, &flight, NULL, reading->out, err));
    return pg_end(&session->pg, err);
}

enum status source_reads_run(struct session *session, struct source_keys *keys, int32_t max_bytes,
    struct taken_traces *traces, struct source_reads *out, struct error *err)
{
    struct reading reading = { .keys = keys,
        .max_bytes = max_bytes,
        .traces = traces,
        .first_trace = traces ? traces->count : 0,
        .out = out };
    const struct source_flight first = { send_first, take_first, &reading };

    *out = (struct source_reads){ .is_whole = true };
    if (traces)
        forget_intents(keys);
    TRY(source_keys_begin(session, keys, &first, err));
    return read_missed(session, &reading, err);
}

void source_reads_clear(struct source_reads *reads)
{
    PQclear(reads->dead_letters);
    for (int i = 0; i < SOURCE_READ_COUNT; i++)
        PQclear(reads->sources[i]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_look.c - see the header. Every function reads in the snapshot that its caller has opened,
 * and locks nothing.
 */
#include "store/verification/verify_look.h"

#include "domain/entities/row_state.h"
#include "domain/indexes/index_names.h"
#include "store/session/row_arrays.h"
#include "store/sql.h"

/* A source with more bytes is read by itself. */
enum { SOURCE_BYTES = 8 * 1024 * 1024 / LOOK_SUBJECTS };

/* ---- the entries that sources ask for ---- */

/* Compute the entry. If its source is large, the entry's properties are released at once. */
static void project(
    const struct index *index, const struct row_state *source, struct arena *arena, struct subject *subject)
{
    ARENA_SCOPE scratch;
    struct index_entry entry;

    arena_init(&scratch);
    subject->question = owner_rows_question(index, &subject->source, source, arena);
    subject->source_version = source->live ? source->version : 0;
    subject->has_wanted =
        index_plan_project_state(index, &subject->source, source, &scratch, &entry) == PROJECTED;
    if (!subject->has_wanted)
        return;
    subject->wanted = (struct index_entry){ .index_id = entry.index_id,
        .bucket = entry.bucket,
        .key = { arena_copy(arena, entry.key.partition), arena_copy(arena, entry.key.row) },
        .digest = entry.digest };
}

/* In a unique index, a source that does not own its value asks for no entry. */
static enum status ask_owners(struct session *session, struct look *look, struct error *err)
{
    struct owner_question *questions = ARENA_ARRAY(&session->arena, struct owner_question, look->count);

    if (!look->index->is_unique)
        return STATUS_OK;
    for (size_t i = 0; i < look->count; i++)
        questions[i] = look->subjects[i].question;
    TRY(owner_rows_ask(session, questions, look->count, err));
    for (size_t i = 0; i < look->count; i++)
        look->subjects[i].has_wanted = look->subjects[i].has_wanted && questions[i].is_owner;
    return STATUS_OK;
}

enum source_column { SOURCE_N, SOURCE_VERSION, SOURCE_TS, SOURCE_DEAD, SOURCE_EXPIRES, SOURCE_PROPERTIES };

static struct row_state source_at(const PGresult *rows, int row)
{
    return (struct row_state){ .live = !pg_bool(rows, row, SOURCE_DEAD),
        .version = pg_int8(rows, row, SOURCE_VERSION),
        .ts = pg_int8(rows, row, SOURCE_TS),
        .properties = { pg_bytes(rows, row, SOURCE_PROPERTIES) },
        .expires = pg_int8(rows, row, SOURCE_EXPIRES) };
}

/* The keys of some subjects; which[n - 1] is the subject of position n. */
struct addresses {
    struct key_arrays keys;
    struct subject **which;
    size_t count;
};

static void addresses_init(struct addresses *list, struct session *session, const struct look *look)
{
    *list = (struct addresses){ .which = ARENA_ARRAY(&session->arena, struct subject *, 2 * look->count) };
    key_arrays_init(&list->keys, &session->arena);
}

static void add_source(struct addresses *list, const struct index *index, struct subject *subject)
{
    key_arrays_put(&list->keys, index->source_table_id, &subject->source,
        entity_key_bucket(index->source_table_id, subject->source.partition));
    list->which[list->count++] = subject;
}

static void add_entry(struct addresses *list, const struct index *index, struct subject *subject,
    const struct entity_key *entry)
{
    key_arrays_put(&list->keys, index->index_id, entry,
        entity_key_bucket(index_plan_home_table(index), entry->partition));
    list->which[list->count++] = subject;
}

/* Add what source_get reads of each source: at most so many bytes, and of a spread one what the entry is made from. */
static void add_needs(
    const struct index *index, int32_t max_bytes, struct arena *arena, struct pg_params *params)
{
    struct name_arrays arrays;
    const struct str *names;
    size_t count = index_names_of(index, arena, &names);

    name_arrays_init(&arrays, arena);
    name_arrays_put(&arrays, index->source_table_id, names, count);
    pg_add_int4(params, max_bytes);
    name_arrays_add(&arrays, params);
}

static enum status read_one_source(
    struct session *session, const struct look *look, struct subject *subject, struct error *err)
{
    struct addresses list;
    struct pg_params params;
    PG_RESULT rows = NULL;

    addresses_init(&list, session, look);
    add_source(&list, look->index, subject);
    pg_params_init(&params, &session->arena);
    key_arrays_add(&list.keys, &params);
    add_needs(look->index, INT32_MAX, &session->arena, &params);
    TRY(pg_query(&session->pg, &sql_source_get, &params, &rows, err));
    if (PQntuples(rows) > 0) {
        struct row_state source = source_at(rows, 0);

        project(look->index, &source, &session->arena, subject);
    }
    return STATUS_OK;
}

/* Add the sources of the subjects as the first four parameters. */
static struct addresses list_sources(
    struct session *session, const struct look *look, struct pg_params *params)
{
    struct addresses list;

    addresses_init(&list, session, look);
    for (size_t i = 0; i < look->count; i++)
        if (look->subjects[i].has_source)
            add_source(&list, look->index, &look->subjects[i]);
    pg_params_init(params, &session->arena);
    key_arrays_add(&list.keys, params);
    return list;
}

/* Read the sources, and compute the entries that they ask for. */
static enum status read_sources(struct session *session, struct look *look, struct error *err)
{
    struct pg_params params;
    struct addresses list = list_sources(session, look, &params);
    PG_RESULT rows = NULL;

    if (list.count == 0)
        return STATUS_OK;
    add_needs(look->index, SOURCE_BYTES, &session->arena, &params);
    TRY(pg_query(&session->pg, &sql_source_get, &params, &rows, err));
    for (int i = 0; i < PQntuples(rows); i++) {
        struct subject *subject = list.which[pg_int8(rows, i, SOURCE_N) - 1];
        struct row_state source = source_at(rows, i);

        if (PQgetisnull(rows, i, SOURCE_PROPERTIES))
            TRY(read_one_source(session, look, subject, err));
        else
            project(look->index, &source, &session->arena, subject);
    }
    return ask_owners(session, look, err);
}

/* ---- manifests and open work ---- */

enum state_column { STATE_N, STATE_LIVE, STATE_MANIFEST, STATE_IN_FLIGHT };

/*
 * An index without manifests has no state rows, and its entries are never behind, since they commit
 * with their sources.
 */
static enum status read_states(struct session *session, struct look *look, struct error *err)
{
    struct pg_params params;
    struct addresses list = list_sources(session, look, &params);
    PG_RESULT rows = NULL;

    if (!index_has_manifest(look->index) || list.count == 0)
        return STATUS_OK;
    pg_add_bool(&params, false);
    TRY(pg_query(&session->pg, &sql_validate_sources, &params, &rows, err));
    for (int i = 0; i < PQntuples(rows); i++) {
        struct verify_case *facts = &list.which[pg_int8(rows, i, STATE_N) - 1]->facts;
        struct str manifest = arena_copy(&session->arena, pg_bytes(rows, i, STATE_MANIFEST));

        /* The entries of a strong index are never behind, whatever intents its table has. */
        facts->in_flight = !index_is_strong(look->index) && pg_bool(rows, i, STATE_IN_FLIGHT);
        facts->has_manifest = true;
        facts->is_manifest_damaged = !manifest_decode(manifest, &session->arena, &facts->manifest);
        if (facts->is_manifest_damaged)
            facts->manifest = (struct manifest){ 0 };
    }
    return STATUS_OK;
}

/* ---- stored entries ---- */

enum entry_column { ENTRY_N, ENTRY_CATALOGUE, ENTRY_VERSION, ENTRY_TS, ENTRY_PROPERTIES, ENTRY_EXPIRES };

static void add_stored(
    struct subject *subject, const struct entity_key *key, int64_t version, uint64_t digest)
{
    subject->stored[subject->facts.stored_count++] =
        (struct verify_stored){ .key = *key, .version = version, .digest = digest };
}

/*
 * Whether the entry belongs to the subject: it names the subject's source; if the subject has no
 * source, it must name none.
 */
static bool is_of(const struct subject *subject, struct str properties)
{
    struct entity_key named;

    if (!index_entry_source((struct property_list){ properties }, &named))
        return !subject->has_source;
    return subject->has_source && entity_key_compare(&named, &subject->source) == 0;
}

static bool is_at_wanted(const struct subject *subject, const struct entity_key *key)
{
    return subject->has_wanted && entity_key_compare(key, &subject->wanted.key) == 0;
}

/* Read the entries at the wanted keys, and at the keys of the subjects. */
static enum status read_entries(struct session *session, struct look *look, struct error *err)
{
    struct addresses list;
    struct pg_params params;
    const struct entity_key **keys = ARENA_ARRAY(&session->arena, const struct entity_key *, 2 * look->count);
    PG_RESULT rows = NULL;

    addresses_init(&list, session, look);
    for (size_t i = 0; i < look->count; i++) {
        struct subject *subject = &look->subjects[i];

        if (subject->has_wanted) {
            keys[list.count] = &subject->wanted.key;
            add_entry(&list, look->index, subject, &subject->wanted.key);
        }
        if (subject->has_entry && !is_at_wanted(subject, &subject->entry)) {
            keys[list.count] = &subject->entry;
            add_entry(&list, look->index, subject, &subject->entry);
        }
    }
    if (list.count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    key_arrays_add(&list.keys, &params);
    TRY(pg_query(&session->pg, &sql_entry_get, &params, &rows, err));
    for (int i = 0; i < PQntuples(rows); i++) {
        size_t n = (size_t)pg_int8(rows, i, ENTRY_N) - 1;
        struct str properties = pg_bytes(rows, i, ENTRY_PROPERTIES);

        if (!PQgetisnull(rows, i, ENTRY_VERSION) &&
            (is_at_wanted(list.which[n], keys[n]) || is_of(list.which[n], properties)))
            add_stored(list.which[n], keys[n], pg_int8(rows, i, ENTRY_VERSION),
                index_plan_digest(look->index, properties, pg_int8(rows, i, ENTRY_VERSION),
                    pg_int8(rows, i, ENTRY_EXPIRES)));
    }
    return STATUS_OK;
}

/* ---- judging ---- */

static void judge(struct look *look, bool is_complete)
{
    for (size_t i = 0; i < look->count; i++) {
        struct subject *subject = &look->subjects[i];
        struct verify_case *facts = &subject->facts;

        facts->index_id = look->index->index_id;
        facts->wanted = subject->has_wanted ? &subject->wanted : NULL;
        facts->is_complete = is_complete && subject->has_source;
        facts->stored = subject->stored;
        subject->difference_count = verify_plan(facts, subject->differences);
    }
}

enum status look_at_subjects(struct session *session, struct look *look, struct error *err)
{
    TRY(read_sources(session, look, err));
    TRY(read_states(session, look, err));
    TRY(read_entries(session, look, err));
    judge(look, true);
    return STATUS_OK;
}

enum status look_at_entries(struct session *session, struct look *look, struct error *err)
{
    TRY(read_sources(session, look, err));
    TRY(read_states(session, look, err));
    TRY(read_entries(session, look, err));
    judge(look, false);
    return STATUS_OK;
}

static void drop_living(struct look *look)
{
    size_t kept = 0;

    for (size_t i = 0; i < look->count; i++)
        if (look->subjects[i].source_version == 0)
            look->subjects[kept++] = look->subjects[i];
    look->count = kept;
}

/* Take the entry that a manifest names as the subject's entry, to see whether it exists. */
static void take_named(struct look *look)
{
    for (size_t i = 0; i < look->count; i++) {
        struct subject *subject = &look->subjects[i];
        const struct manifest *manifest = &subject->facts.manifest;

        for (size_t k = 0; k < manifest->count && !subject->has_entry; k++)
            if (manifest->items[k].index_id == look->index->index_id) {
                subject->has_entry = true;
                subject->entry = manifest->items[k].key;
            }
    }
}

/* Drop differences about entries that exist: these are judged as entries. */
static void drop_dangling(struct look *look)
{
    for (size_t i = 0; i < look->count; i++) {
        struct subject *subject = &look->subjects[i];

        if (subject->difference_count > 0 && subject->differences[0].class == DIFFERENCE_MANIFEST)
            subject->difference_count = 1;
        else
            subject->difference_count = 0;
    }
}

enum status look_at_manifests(struct session *session, struct look *look, struct error *err)
{
    TRY(read_sources(session, look, err));
    drop_living(look);
    TRY(read_states(session, look, err));
    take_named(look);
    TRY(read_entries(session, look, err));
    judge(look, true);
    drop_dangling(look);
    return STATUS_OK;
}

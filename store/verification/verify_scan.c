/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_scan.c - see the header. Every function reads in the snapshot that its caller has opened,
 * and locks nothing.
 *
 * Searching a row by its key costs several times as much as reading the next one, so whatever can
 * be read in order is: sources, state rows and open work are in the order of source keys, and are
 * merged here.
 */
#include "store/verification/verify_scan.h"

#include "domain/entities/row_state.h"
#include "domain/indexes/index_names.h"
#include "store/session/session.h"
#include "store/sql.h"

enum {
    CHUNK_BYTES = 8 * 1024 * 1024,
    /* of one row; in most chunks all rows are smaller, so their sizes are not summed up */
    SMALL_BYTES = 8 * 1024,
    SHORT_PREFIX =
        /* of an entry's properties: the key of its source comes first, and mostly fits */
    192,
    LONG_PREFIX = 2 * (LIMIT_KEY_BYTES + 64),
};

/* ---- rows ---- */

enum key_column { KEY_PARTITION, KEY_ROW, KEY_END };
enum rows_column { ROWS_VERSION = KEY_END, ROWS_TS, ROWS_EXPIRES, ROWS_PROPERTIES };
enum version_column { VERSION_VERSION = KEY_END, VERSION_PREFIX };
enum state_column { STATE_MANIFEST = KEY_END, STATE_APPLIED };

static struct entity_key key_at(const PGresult *rows, int row)
{
    return (struct entity_key){ pg_bytes(rows, row, KEY_PARTITION), pg_bytes(rows, row, KEY_ROW) };
}

static struct entity_key copied(const struct entity_key *key, struct arena *arena)
{
    return (struct entity_key){ arena_copy(arena, key->partition), arena_copy(arena, key->row) };
}

static void from_params(
    struct session *session, const struct verify_scan *scan, int64_t table_id, struct pg_params *params)
{
    pg_params_init(params, &session->arena);
    pg_add_int8(params, table_id);
    pg_add_bytes(params, scan->key.partition);
    pg_add_bytes(params, scan->key.row);
    pg_add_bool(params, scan->is_behind);
    pg_add_int8(params, scan->max_rows);
}

static enum status send_rows(
    struct session *session, const struct verify_scan *scan, int64_t table_id, struct error *err)
{
    struct pg_params params;
    const struct str *names;
    size_t count = index_names_of(scan->index, &session->arena, &names);

    from_params(session, scan, table_id, &params);
    pg_add_int8(&params, scan->has_large ? CHUNK_BYTES : SMALL_BYTES);
    pg_add_names(&params, names, count, true);
    return pg_send(&session->pg, scan->has_large ? &sql_walk_rows_bounded : &sql_walk_rows, &params, err);
}

static enum status send_versions(struct session *session, const struct verify_scan *scan, int64_t table_id,
    int32_t prefix, struct error *err)
{
    struct pg_params params;

    from_params(session, scan, table_id, &params);
    pg_add_int4(&params, prefix);
    return pg_send(&session->pg, &sql_version_chunk, &params, err);
}

static bool is_within(const struct source_range *range, const struct entity_key *key)
{
    return (!range->has_from || entity_key_compare(key, &range->from) >= 0) &&
           (!range->has_below || entity_key_compare(key, &range->below) < 0);
}

/*
 * The number of rows before the first one whose properties were left out. The others are left to
 * the next chunk.
 */
static int count_read(struct verify_scan *scan, const PGresult *rows)
{
    int count = PQntuples(rows);

    for (int i = 1; i < count; i++)
        if (PQgetisnull(rows, i, ROWS_PROPERTIES)) {
            scan->has_large = true;
            return i;
        }
    return count;
}

/*
 * Whether the properties of the first row were left out: then the rows must be read with a sum of
 * their sizes.
 */
static bool begins_large(struct verify_scan *scan, const PGresult *rows)
{
    bool is_large = PQntuples(rows) > 0 && PQgetisnull(rows, 0, ROWS_PROPERTIES);

    scan->has_large = scan->has_large || is_large;
    return is_large;
}

/*
 * Report the end of the chunk, so that the next chunk begins behind it while this one is summed up.
 */
static void report_end(struct verify_scan *scan)
{
    if (!scan->turn)
        return;
    if (scan->is_last)
        turn_stop(scan->turn);
    else
        turn_pass(scan->turn, &scan->last);
    scan->turn = NULL;
}

/* ---- reading in the order of source keys ---- */

struct list {
    PGresult *rows;
    int count, next;
    bool is_cut; /* more may follow its last row */
};

struct merge {
    bool has_properties; /* the list is that of the sources */
    struct list sources, states, open;
    bool has_end;
    struct entity_key end; /* rows behind this key are left to the next chunk */
};

static void merge_cleanup(struct merge *merge)
{
    PQclear(merge->sources.rows);
    PQclear(merge->states.rows);
    PQclear(merge->open.rows);
}
#define MERGE __attribute__((cleanup(merge_cleanup))) struct merge

static void take_end(struct merge *merge, struct list *list, int count, int max_rows)
{
    struct entity_key last;

    list->count = count;
    list->is_cut = count < PQntuples(list->rows) || count >= max_rows;
    if (!list->is_cut || count == 0)
        return;
    last = key_at(list->rows, count - 1);
    if (!merge->has_end || entity_key_compare(&last, &merge->end) < 0)
        merge->end = last;
    merge->has_end = true;
}

/*
 * Report the end early, so that the next chunk can begin while the database still reads state rows
 * for this one. If the state rows end before the sources do, this chunk and its turn end there;
 * that is rare, since most state rows have a source.
 */
static void report_source_end(struct verify_scan *scan, const struct merge *merge)
{
    const PGresult *rows = merge->sources.rows;
    int count = PQntuples(rows);

    if (!scan->turn || count < scan->max_rows || (merge->has_properties && count_read(scan, rows) < count))
        return;
    scan->last = key_at(rows, count - 1);
    if (!is_within(scan->range, &scan->last))
        return;
    scan->last = copied(&scan->last, scan->arena);
    report_end(scan);
}

static enum status query_merge(
    struct session *session, struct verify_scan *scan, struct merge *merge, struct error *err)
{
    int64_t table_id = scan->index->source_table_id;
    bool more = index_has_manifest(scan->index);
    bool may_be_behind = more && !index_is_strong(scan->index);
    struct pg_params params;

    merge->has_properties = !scan->is_fast || !more;
    if (merge->has_properties)
        TRY(send_rows(session, scan, table_id, err));
    else
        TRY(send_versions(session, scan, table_id, 0, err));
    from_params(session, scan, table_id, &params);
    if (more)
        TRY(pg_send(&session->pg, &sql_state_scan, &params, err));
    if (may_be_behind)
        TRY(pg_send(&session->pg, &sql_open_chunk, &params, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, &merge->sources.rows, err));
    report_source_end(scan, merge);
    if (more)
        TRY(pg_next(&session->pg, &merge->states.rows, err));
    if (may_be_behind)
        TRY(pg_next(&session->pg, &merge->open.rows, err));
    return pg_end(&session->pg, err);
}

static enum status read_merge(
    struct session *session, struct verify_scan *scan, struct merge *merge, struct error *err)
{
    TRY(query_merge(session, scan, merge, err));
    if (merge->has_properties && begins_large(scan, merge->sources.rows)) {
        merge_cleanup(merge);
        *merge = (struct merge){ 0 };
        TRY(query_merge(session, scan, merge, err));
    }
    take_end(merge, &merge->sources,
        merge->has_properties ? count_read(scan, merge->sources.rows) : PQntuples(merge->sources.rows),
        scan->max_rows);
    if (merge->states.rows)
        take_end(merge, &merge->states, PQntuples(merge->states.rows), scan->max_rows);
    if (merge->open.rows)
        take_end(merge, &merge->open, PQntuples(merge->open.rows), scan->max_rows);
    return STATUS_OK;
}

/* The result of the merged lists for one source key. */
struct fact {
    struct entity_key source; /* borrowed from the lists */
    int row, state;           /* their rows in the lists; -1: none */
    bool has_wanted;
    struct index_entry wanted; /* its key and its digest */
};

static bool peek(const struct list *list, struct entity_key *key)
{
    if (list->next >= list->count)
        return false;
    *key = key_at(list->rows, list->next);
    return true;
}

/* The number of the list's next row if it has this key; -1 otherwise. */
static int take_at(struct list *list, const struct entity_key *key)
{
    struct entity_key next;

    return peek(list, &next) && entity_key_compare(&next, key) == 0 ? list->next++ : -1;
}

static bool is_open(struct list *open, const struct entity_key *key)
{
    struct entity_key next;

    while (peek(open, &next) && entity_key_compare(&next, key) < 0)
        open->next++;
    return take_at(open, key) >= 0;
}

/* Take the next source key of the merged lists. false: none is left before the end of the chunk. */
static bool next_fact(struct merge *merge, struct fact *out)
{
    struct entity_key source, state;
    bool has_source = peek(&merge->sources, &source), has_state = peek(&merge->states, &state);

    if (!has_source && !has_state)
        return false;
    if (!has_source || (has_state && entity_key_compare(&state, &source) < 0))
        source = state;
    if (merge->has_end && entity_key_compare(&source, &merge->end) > 0)
        return false;
    *out = (struct fact){
        .source = source, .row = take_at(&merge->sources, &source), .state = take_at(&merge->states, &source)
    };
    return true;
}

struct facts {
    struct fact *facts;
    size_t count;
};

static void end_chunk(struct verify_scan *scan, const struct merge *merge)
{
    scan->is_last = scan->is_last || !merge->has_end;
    if (merge->has_end)
        scan->last = copied(&merge->end, scan->arena);
}

/* Keys are in order, so the first one beyond the range ends the list. */
static struct facts list_facts(struct session *session, struct verify_scan *scan, struct merge *merge)
{
    size_t max = (size_t)merge->sources.count + (size_t)merge->states.count;
    struct facts list = { ARENA_ARRAY(&session->arena, struct fact, max), 0 };
    struct fact fact;

    while (next_fact(merge, &fact)) {
        bool is_in_flight = is_open(&merge->open, &fact.source);

        if (!is_within(scan->range, &fact.source)) {
            scan->is_last = true;
            break;
        }
        scan->rows += fact.row >= 0;
        scan->in_flight += fact.row >= 0 && is_in_flight;
        if (!is_in_flight)
            list.facts[list.count++] = fact;
    }
    end_chunk(scan, merge);
    return list;
}

/* ---- the entries that sources ask for ---- */

static struct row_state source_at(const PGresult *rows, int row)
{
    return (struct row_state){ .live = true,
        .version = pg_int8(rows, row, ROWS_VERSION),
        .ts = pg_int8(rows, row, ROWS_TS),
        .properties = { pg_bytes(rows, row, ROWS_PROPERTIES) },
        .expires = pg_int8(rows, row, ROWS_EXPIRES) };
}

/* Compute the entry; its properties are not kept. */
static void project(const struct verify_scan *scan, const struct row_state *source, struct fact *fact,
    struct arena *arena, struct arena *scratch)
{
    const struct arena then = *scratch;
    struct index_entry entry;

    fact->has_wanted =
        index_plan_project_state(scan->index, &fact->source, source, scratch, &entry) == PROJECTED;
    if (fact->has_wanted)
        fact->wanted = (struct index_entry){
            .index_id = entry.index_id, .key = copied(&entry.key, arena), .digest = entry.digest
        };
    arena_rewind(scratch, &then);
}

/* In a unique index, a source that does not own its value asks for no entry. */
static enum status project_all(struct session *session, const struct verify_scan *scan,
    const struct merge *merge, struct facts *list, struct error *err)
{
    bool is_unique = scan->index->is_unique;
    struct owner_question *questions =
        ARENA_ARRAY(&session->arena, struct owner_question, is_unique ? list->count : 0);
    ARENA_SCOPE scratch;

    arena_init(&scratch);
    for (size_t i = 0; i < list->count; i++) {
        struct fact *fact = &list->facts[i];
        struct row_state source;

        if (fact->row < 0)
            continue;
        source = source_at(merge->sources.rows, fact->row);
        project(scan, &source, fact, &session->arena, &scratch);
        if (is_unique)
            questions[i] = owner_rows_question(scan->index, &fact->source, &source, &session->arena);
    }
    if (!is_unique)
        return STATUS_OK;
    TRY(owner_rows_ask(session, questions, list->count, err));
    for (size_t i = 0; i < list->count; i++)
        list->facts[i].has_wanted = list->facts[i].has_wanted && questions[i].is_owner;
    return STATUS_OK;
}

/* ---- summing up sources ---- */

struct known {
    bool is_readable;
    const struct manifest_item *item; /* the item of the index; NULL: none */
    size_t count;                     /* number of the index's items */
};

static struct known known_of(
    const struct verify_scan *scan, const struct merge *merge, const struct fact *fact, struct arena *arena)
{
    struct known known = { .is_readable = true };
    struct manifest manifest;

    if (fact->state < 0)
        return known;
    known.is_readable =
        manifest_decode(pg_bytes(merge->states.rows, fact->state, STATE_MANIFEST), arena, &manifest);
    for (size_t i = 0; known.is_readable && i < manifest.count; i++)
        if (manifest.items[i].index_id == scan->index->index_id) {
            known.item = &manifest.items[i];
            known.count++;
        }
    return known;
}

/* Whether the manifest names exactly the entry that the source asks for. */
static bool says_wanted(const struct known *known, const struct fact *fact)
{
    if (!known->is_readable || known->count != (fact->has_wanted ? 1 : 0))
        return false;
    return !fact->has_wanted || (known->item->digest == fact->wanted.digest &&
                                    entity_key_compare(&known->item->key, &fact->wanted.key) == 0);
}

/* Whether the manifest was made from the version that the source has. */
static bool is_current(const struct merge *merge, const struct fact *fact, const struct known *known)
{
    return fact->state >= 0 && known->is_readable && known->count <= 1 &&
           pg_int8(merge->sources.rows, fact->row, VERSION_VERSION) ==
               pg_int8(merge->states.rows, fact->state, STATE_APPLIED);
}

/* Add the source to the sums. false: it must be judged. */
static bool sum_up_source(
    struct verify_scan *scan, const struct merge *merge, const struct fact *fact, struct arena *scratch)
{
    struct known known;

    if (!index_has_manifest(scan->index)) {
        if (fact->has_wanted && verify_scope_holds(scan->scope, &fact->wanted.key))
            verify_sums_add(scan->sums, &fact->source, &fact->wanted.key,
                scan->is_fast ? (uint64_t)pg_int8(merge->sources.rows, fact->row, ROWS_VERSION)
                              : fact->wanted.digest);
        return true;
    }
    known = known_of(scan, merge, fact, scratch);
    if (fact->row < 0) {
        if (known.item ? verify_scope_holds(scan->scope, &known.item->key)
                       : !known.is_readable && !scan->scope->is_limited)
            verify_sums_mark(scan->sums, &fact->source);
        return true;
    }
    if (scan->is_fast ? !is_current(merge, fact, &known) : !says_wanted(&known, fact))
        return false;
    if (known.item && verify_scope_holds(scan->scope, &known.item->key))
        verify_sums_add(scan->sums, &fact->source, &known.item->key,
            scan->is_fast ? (uint64_t)pg_int8(merge->states.rows, fact->state, STATE_APPLIED)
                          : known.item->digest);
    return true;
}

/* Drop the differences of the subject that are not in the scope. */
static void keep_differences(const struct verify_scan *scan, struct subject *subject)
{
    size_t kept = 0;

    for (size_t i = 0; i < subject->difference_count; i++)
        if (verify_scope_holds(scan->scope, &subject->differences[i].entry))
            subject->differences[kept++] = subject->differences[i];
    subject->difference_count = kept;
}

static void sum_up_subject(struct verify_scan *scan, struct subject *subject)
{
    keep_differences(scan, subject);
    if (subject->difference_count > 0)
        verify_sums_mark(scan->sums, &subject->source);
    for (size_t k = 0; subject->difference_count == 0 && k < subject->facts.stored_count; k++)
        if (verify_scope_holds(scan->scope, &subject->stored[k].key))
            verify_sums_add(scan->sums, &subject->source, &subject->stored[k].key,
                scan->is_fast ? (uint64_t)subject->stored[k].version : subject->stored[k].digest);
}

/*
 * Judge these sources. If one is right, its stored entries are added to the sums; otherwise its key
 * is marked as a suspect.
 */
static enum status settle_doubts(
    struct session *session, struct verify_scan *scan, struct look *all, struct error *err)
{
    for (size_t from = 0; from < all->count; from += LOOK_SUBJECTS) {
        struct look look = { scan->index, all->subjects + from, all->count - from };

        if (look.count > LOOK_SUBJECTS)
            look.count = LOOK_SUBJECTS;
        TRY(look_at_subjects(session, &look, err));
        for (size_t i = 0; i < look.count; i++)
            sum_up_subject(scan, &look.subjects[i]);
    }
    return STATUS_OK;
}

enum status verify_scan_sum_sources(struct session *session, struct verify_scan *scan, struct error *err)
{
    MERGE merge = { 0 };
    ARENA_SCOPE scratch;
    struct facts list;
    struct look doubts = { .index = scan->index };

    arena_init(&scratch);
    TRY(read_merge(session, scan, &merge, err));
    list = list_facts(session, scan, &merge);
    report_end(scan);
    if (merge.has_properties)
        TRY(project_all(session, scan, &merge, &list, err));
    doubts.subjects = ARENA_ARRAY(&session->arena, struct subject, list.count);
    for (size_t i = 0; i < list.count; i++) {
        const struct arena then = scratch;

        if (!sum_up_source(scan, &merge, &list.facts[i], &scratch))
            doubts.subjects[doubts.count++] =
                (struct subject){ .has_source = true, .source = list.facts[i].source };
        arena_rewind(&scratch, &then);
    }
    return settle_doubts(session, scan, &doubts, err);
}

/* ---- summing up entries ---- */

/* Read the rows of the entries, with the part of their properties that names their sources. */
static enum status read_entries(
    struct session *session, const struct verify_scan *scan, PGresult **rows, struct error *err)
{
    int64_t table_id = scan->index->index_id;
    struct entity_key source;
    bool is_cut = false;

    TRY(send_versions(session, scan, table_id, SHORT_PREFIX, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, rows, err));
    TRY(pg_end(&session->pg, err));
    for (int i = 0; i < PQntuples(*rows) && !is_cut; i++) {
        struct property_list prefix = { pg_bytes(*rows, i, VERSION_PREFIX) };

        is_cut = prefix.bytes.len == SHORT_PREFIX && !index_entry_source(prefix, &source);
    }
    if (!is_cut)
        return STATUS_OK;
    PQclear(*rows);
    *rows = NULL;
    TRY(send_versions(session, scan, table_id, LONG_PREFIX, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, rows, err));
    return pg_end(&session->pg, err);
}

/* Entries are in order, so the first one beyond the scope ends the scan. */
static bool has_ended(struct verify_scan *scan, const struct entity_key *entry)
{
    scan->is_last = scan->is_last || verify_scope_has_passed(scan->scope, entry);
    return verify_scope_has_passed(scan->scope, entry);
}

static void end_entries(struct verify_scan *scan, const PGresult *rows, int count)
{
    scan->rows = count;
    scan->is_last = count == PQntuples(rows) && count < scan->max_rows;
    if (count > 0) {
        scan->last = key_at(rows, count - 1);
        scan->last = copied(&scan->last, scan->arena);
    }
}

/*
 * Whether the entry is in the range of sources. An entry that names no source is in none, so only a
 * verification of the whole index reports it.
 */
static bool concerns(const struct verify_scan *scan, bool has_source, const struct entity_key *source)
{
    return has_source ? is_within(scan->range, source) : !scan->range->has_from && !scan->range->has_below;
}

static void sum_up_entry(struct verify_scan *scan, const struct entity_key *entry,
    struct property_list properties, uint64_t content)
{
    struct entity_key source;
    bool has_source = index_entry_source(properties, &source);

    if (!concerns(scan, has_source, &source) || !verify_scope_holds(scan->scope, entry))
        return;
    if (has_source)
        verify_sums_subtract(scan->sums, &source, entry, content);
    else
        verify_sums_mark(scan->sums, entry);
}

static enum status sum_versions(struct session *session, struct verify_scan *scan, struct error *err)
{
    PG_RESULT rows = NULL;

    TRY(read_entries(session, scan, &rows, err));
    end_entries(scan, rows, PQntuples(rows));
    report_end(scan);
    for (int i = 0; i < PQntuples(rows); i++) {
        struct entity_key entry = key_at(rows, i);

        if (has_ended(scan, &entry))
            break;
        sum_up_entry(scan, &entry, (struct property_list){ pg_bytes(rows, i, VERSION_PREFIX) },
            (uint64_t)pg_int8(rows, i, VERSION_VERSION));
    }
    return STATUS_OK;
}

static enum status query_entries(
    struct session *session, const struct verify_scan *scan, PGresult **rows, struct error *err)
{
    TRY(send_rows(session, scan, scan->index->index_id, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, rows, err));
    return pg_end(&session->pg, err);
}

enum status verify_scan_sum_entries(struct session *session, struct verify_scan *scan, struct error *err)
{
    PG_RESULT rows = NULL;
    int count;

    if (scan->is_fast)
        return sum_versions(session, scan, err);
    TRY(query_entries(session, scan, &rows, err));
    if (begins_large(scan, rows)) {
        PQclear(rows);
        rows = NULL;
        TRY(query_entries(session, scan, &rows, err));
    }
    count = count_read(scan, rows);
    end_entries(scan, rows, count);
    report_end(scan);
    for (int i = 0; i < count; i++) {
        struct entity_key entry = key_at(rows, i);
        struct property_list properties = { pg_bytes(rows, i, ROWS_PROPERTIES) };

        if (has_ended(scan, &entry))
            break;
        sum_up_entry(scan, &entry, properties,
            index_plan_digest(scan->index, properties.bytes, pg_int8(rows, i, ROWS_VERSION),
                pg_int8(rows, i, ROWS_EXPIRES)));
    }
    return STATUS_OK;
}

/* ---- suspects ---- */

static enum status judge_all(struct session *session, struct verify_scan *scan,
    enum status (*look_at)(struct session *session, struct look *look, struct error *err), struct error *err)
{
    size_t count = scan->look.count;

    scan->look.count = 0;
    for (size_t from = 0; from < count; from += LOOK_SUBJECTS) {
        struct look part = { scan->index, scan->look.subjects + from, count - from };

        if (part.count > LOOK_SUBJECTS)
            part.count = LOOK_SUBJECTS;
        TRY(look_at(session, &part, err));
        for (size_t i = 0; i < part.count; i++) {
            keep_differences(scan, &part.subjects[i]);
            scan->look.subjects[scan->look.count++] = part.subjects[i];
        }
    }
    return STATUS_OK;
}

/* Take the suspects among the rows, whose first columns are source keys. */
static void take_suspects(struct session *session, struct verify_scan *scan, const PGresult *rows)
{
    int count = PQntuples(rows);

    end_entries(scan, rows, count);
    scan->look = (struct look){ scan->index, ARENA_ARRAY(&session->arena, struct subject, (size_t)count), 0 };
    for (int i = 0; i < count; i++) {
        struct entity_key source = key_at(rows, i);

        if (scan->range->has_below && entity_key_compare(&source, &scan->range->below) >= 0) {
            scan->is_last = true;
            break;
        }
        if (is_within(scan->range, &source) && verify_sums_is_suspect(scan->sums, &source))
            scan->look.subjects[scan->look.count++] =
                (struct subject){ .has_source = true, .source = copied(&source, &session->arena) };
    }
}

enum status verify_scan_judge_sources(struct session *session, struct verify_scan *scan, struct error *err)
{
    PG_RESULT rows = NULL;

    TRY(send_versions(session, scan, scan->index->source_table_id, 0, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, &rows, err));
    TRY(pg_end(&session->pg, err));
    take_suspects(session, scan, rows);
    return judge_all(session, scan, look_at_subjects, err);
}

enum status verify_scan_judge_entries(struct session *session, struct verify_scan *scan, struct error *err)
{
    PG_RESULT rows = NULL;

    TRY(read_entries(session, scan, &rows, err));
    end_entries(scan, rows, PQntuples(rows));
    scan->look = (struct look){ scan->index,
        ARENA_ARRAY(&session->arena, struct subject, (size_t)PQntuples(rows)), 0 };
    for (int i = 0; i < PQntuples(rows); i++) {
        struct entity_key entry = key_at(rows, i), source;
        bool has_source =
            index_entry_source((struct property_list){ pg_bytes(rows, i, VERSION_PREFIX) }, &source);

        if (has_ended(scan, &entry))
            break;
        if (!concerns(scan, has_source, &source) || !verify_scope_holds(scan->scope, &entry) ||
            !verify_sums_is_suspect(scan->sums, has_source ? &source : &entry))
            continue;
        scan->look.subjects[scan->look.count] = (struct subject){
            .has_source = has_source, .has_entry = true, .entry = copied(&entry, &session->arena)
        };
        if (has_source)
            scan->look.subjects[scan->look.count].source = copied(&source, &session->arena);
        scan->look.count++;
    }
    return judge_all(session, scan, look_at_entries, err);
}

enum status verify_scan_judge_manifests(struct session *session, struct verify_scan *scan, struct error *err)
{
    struct pg_params params;
    PG_RESULT rows = NULL;

    from_params(session, scan, scan->index->source_table_id, &params);
    TRY(pg_query(&session->pg, &sql_state_scan, &params, &rows, err));
    take_suspects(session, scan, rows);
    return judge_all(session, scan, look_at_manifests, err);
}

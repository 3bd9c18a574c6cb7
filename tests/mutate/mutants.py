# SPDX-License-Identifier: Apache-2.0
"""The guards of the protocol, and for each what the program would be without it.

A mutant is a guard, the edits that take it away (file, what stands there once, what stands there instead), the
test program and suite to run, and the tests of which at least one must fail. A test names its guard: the words
"guard G8" stand on its first line or right above it. Guards that have no code yet (G2, G11, G12 of a distributed
PostgreSQL) have no mutant.
"""

MUTANTS = [
    ("G0", [("store/connection/pg.c", "= 'read committed'", "= 'repeatable read'")],
     "test_store", "reconcile", ["the_source_is_read_after_the_lock"]),

    ("G1", [("store/session/session.c", "if (pg_int8(result, 0, CHECK_VERSION) != session->catalogue->version)",
             "if (pg_int8(result, 0, CHECK_VERSION) < 0)")],
     "test_store", "write", ["a_writer_that_knows_a_deleted_table_writes_nothing"]),

    ("G1", [("store/session/session.c", "if (pg_int8(result, 0, CHECK_VERSION) != session->catalogue->version)",
             "if (pg_int8(result, 0, CHECK_VERSION) < 0)")],
     "test_store", "index_build", ["a_server_that_has_not_noticed_the_index_leaves_its_intents"]),

    ("G1", [("store/session/sql/fence.sql", "select 1 from write_fence where bucket = 0 for key share", "select 1")],
     "test_store", "write", ["a_deletion_waits_for_an_open_write", "no_row_appears_once_a_deletion_has_returned"]),

    ("G1", [("store/entities/sql/entity_upsert_blind.sql", "where $8::int8 = (select version from catalogue)", "where $8::int8 >= 0")],
     "test_store", "write", ["a_writer_that_knows_a_deleted_table_writes_nothing"]),

    ("G1", [("store/entities/sql/entity_upsert_one.sql", "where $8::int8 = (select version from catalogue)", "where $8::int8 >= 0")],
     "test_store", "write", ["a_writer_that_knows_a_deleted_table_writes_nothing"]),

    ("G3", [("store/background/sql/catalogue_raise_floor.sql", "greatest(floor, $1::int8)", "floor + 0 * $1::int8"),
            ("store/background/sql/dead_purge.sql", "x.version <= $2::int8", "x.version <= 9223372036854775807 + 0 * $2::int8")],
     "test_store", "sweep", ["a_purged_key_comes_back_with_a_higher_version"]),

    ("G4", [("store/entities/sql/entity_lock.sql",
             "on conflict (table_id, partition_key, row_key, bucket) do update set dead = entities.dead where false",
             "on conflict (table_id, partition_key, row_key, bucket) do nothing")],
     "test_store", "write",
     ["one_of_several_servers_inserts_an_absent_key", "no_two_writes_of_a_key_have_one_version"]),

    # What is written by a row that was read, and not locked, is decided by an earlier state of it.
    ("G4", [("store/entities/sql/entity_hold.sql", "\n    for no key update", "")],
     "test_store", "write", ["no_two_writes_of_a_key_have_one_version"]),

    # A row that is missing is not held.
    ("G4", [("store/entities/write_batch.c", "(size_t)PQntuples(stored) < set->row_count;", "false && stored;")],
     "test_store", "write", ["a_row_that_is_missing_is_created_under_a_lock"]),

    # If records are read first, the key of the record still refuses the second request; so that is removed as well.
    ("G5", [("store/entities/write_batch.c", "    TRY(send_rows(session, set, err));\n"
             "    TRY(request_rows_send_get(session, &set->requests, err));\n",
             "    TRY(request_rows_send_get(session, &set->requests, err));\n"
             "    TRY(send_rows(session, set, err));\n"),
            ("store/entities/write_batch.c", "    TRY(take_rows(session, set, &stored, err));\n"
             "    TRY(request_rows_take(session, &set->requests, err));\n",
             "    TRY(request_rows_take(session, &set->requests, err));\n"
             "    TRY(take_rows(session, set, &stored, err));\n"),
            ("store/entities/sql/request_insert.sql", "unnest($5::bytea[])", "unnest($5::bytea[]) on conflict do nothing")],
     "test_store", "requests",
     ["servers_that_race_for_one_request_do_it_once", "servers_that_race_for_one_id_do_not_share_it"]),

    # Upserts that read no record rely on its key.
    ("G5", [("store/entities/sql/request_insert.sql", "unnest($5::bytea[])", "unnest($5::bytea[]) on conflict do nothing")],
     "test_store", "requests",
     ["a_repeat_among_upserts_changes_nothing", "servers_that_race_for_one_request_do_it_once",
      "servers_that_race_for_one_id_do_not_share_it"]),

    ("G6", [("store/session/sql/marker_resolve.sql",
             "insert into commit_markers (bucket, connection_id, number) values (0, $1::int8, $2::int8) on conflict do nothing returning number)",
             "select $2::int8 as number where not exists (select from commit_markers where connection_id = $1::int8 and number = $2::int8))")],
     "test_store", "commit",
     ["the_resolver_waits_for_a_transaction_that_is_open", "a_marker_that_comes_late_collides_with_the_resolvers"]),

    ("G7", [("workers/scan_marks.c", "return now_us >= scan_marks->next_start_us[range];",
             "return now_us >= scan_marks->next_start_us[range] && scan_marks->next_start_us[range] == 0;")],
     "test_workers", "loop", ["every_few_minutes_a_scan_begins_at_the_start"]),

    ("G8", [("store/indexes/sql/state_lock_or_create.sql", "        for no key update\n", "")],
     "test_store", "reconcile", ["the_state_row_of_a_known_key_is_waited_for"]),

    ("G8", [("store/builds/build_range_write.c", "pg_int8(rows, i, ROW_VERSION) == key->source.source.version",
             "pg_int8(rows, i, ROW_VERSION) >= 0")],
     "test_store", "build_walk", ["what_changes_between_the_reading_and_the_lock_is_not_written"]),

    ("G8", [("store/builds/sql/walk_state_update.sql",
             "s.applied is not distinct from u.was_a\n    and s.manifest is not distinct from u.was_m",
             "u.was_a is not null and u.was_m is not null")],
     "test_store", "build_walk", ["a_state_row_is_changed_only_if_it_is_as_it_was_read"]),

    ("G9", [("store/indexes/source_reads.c", "is_traced ? &sql_intent_take_traced : &sql_intent_take, err",
              "is_traced ? &sql_intent_take_traced : &sql_intent_of_keys, err"),
            ("store/indexes/reconcile.c",
             "    TRY(send_dead_letter_deletes(session, work, dead_letters, err));\n",
             "    struct pg_params late;\n"
             "    source_keys_params(&work->keys, &session->arena, &late);\n"
             "    pg_add_int2(&late, INTENT_RECONCILE);\n"
             "    TRY(pg_send(&session->pg, &sql_intent_take, &late, err));\n"
             "    TRY(send_dead_letter_deletes(session, work, dead_letters, err));\n")],
     "test_store", "reconcile", ["an_intent_that_came_after_the_reading_stays"]),

    ("G10", [("store/indexes/reconcile.c",
              "    TRY(send_kind(session, &changes, ENTRY_DELETE, err));\n",
              "    TRY(send_kind(session, &changes, ENTRY_DELETE, err));\n"
              "    TRY(pg_send(&session->pg, &sql_commit, NULL, err));\n"
              "    TRY(pg_send(&session->pg, &sql_begin, NULL, err));\n")],
     "test_store", "reconcile", ["a_failure_anywhere_leaves_everything_as_it_was"]),

    ("G13", [("store/session/session.c", "{ .us = now_us, .origin = session->intent_origin }",
              "{ .us = now_us + 10000000, .origin = session->intent_origin }")],
     "test_store", "leases", ["a_range_is_applied_up_to_its_oldest_open_intent"]),

    ("G14", [("store/transactions/sql/transaction_lock.sql", "\nfor update", "")],
     "test_store", "transactions", ["a_step_waits_for_the_lock_on_the_transaction"]),

    ("G15", [("store/transactions/sql/effect_note.sql", "set state = 2, effect = $4::bytea,", "set state = state,")],
     "test_store", "effects",
     ["an_effect_is_noted_before_it_is_performed", "a_repeat_performs_what_was_noted", "what_has_begun_cannot_be_cancelled"]),

    ("G16", [("workers/effects/files.c", "if (failure == ENOENT) {", "if (failure == ENOENT || failure == EEXIST) {"),
             ("workers/effects/files.c", "    if (hidden[0])\n        return linkat(",
              "    (void)unlinkat(folder, name, 0);\n    if (hidden[0])\n        return linkat(")],
     "test_workers", "files", ["a_file_that_is_there_is_never_replaced"]),

    ("G17", [("store/transactions/transaction_work.c", "if (stepping.transaction.steps_done != work->effect.note.step) {",
              "if (stepping.transaction.steps_done < 0) {")],
     "test_store", "effects", ["a_late_worker_settles_nothing"]),

    ("G50", [("store/transactions/transaction_work.c", "(struct condition){ .kind = CONDITION_MATCHES, .etag =",
              "(struct condition){ .kind = CONDITION_EXISTS, .etag =")],
     "test_store", "effects", ["an_entity_that_has_changed_is_not_deleted"]),

    ("G51", [("base/folders.c", "O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC", "O_RDONLY | O_DIRECTORY | O_CLOEXEC")],
     "test_workers", "files", ["no_link_is_followed"]),

    ("G52", [("store/transactions/sql/file_reserve.sql", "set size = appended_files.size + excluded.size", "set size = appended_files.size")],
     "test_store", "effects", ["a_range_is_given_once"]),

    ("G53", [("workers/effects/files.c", "if (bytes[i] != '\\0' && bytes[i] != content.data[i])", "if (got < 0)")],
     "test_workers", "files", ["what_another_program_has_written_stays"]),

    ("G18", [("workers/scan_marks.c", "if (scan_marks->connection == connection)", "if (connection >= 0)")],
     "test_workers", "loop",
     ["after_a_reconnect_everything_open_is_published_from_the_start",
      "a_poller_with_a_new_connection_scans_from_the_start"]),

    ("G19", [("store/indexes/lookup_read.c", "if (fresh_us == 0 || ", "if (fresh_us >= 0 || ")],
     "test_store", "fresh", ["a_connection_younger_than_the_answer_asks_again"]),

    ("G20", [("store/session/sql/flush_later.sql", "set local ", "set ")],
     "test_store", "reconcile", ["what_a_worker_commits_afterwards_is_on_disk_with_all_before_it"]),

    ("G21", [("store/queries/row_scan.c", "scan->needs_more = scan->one_statement && ", "scan->needs_more = scan->got < 0 && ")],
     "test_store", "snapshot",
     ["a_page_with_a_filter_is_one_snapshot", "a_page_of_large_entities_is_one_snapshot", "a_count_is_one_snapshot",
      "a_list_read_by_a_query_is_one_snapshot", "a_list_read_by_its_address_is_one_snapshot"]),

    ("G21", [("store/indexes/lookup_read.c", "    if (session_in_snapshot(session))\n", "    if (sources->in.get.count == 0)\n")],
     "test_store", "snapshot", ["a_page_of_a_look_up_is_one_snapshot"]),

    ("G21", [("store/short_reads/short_lookup.c", "lookup->reads_around || (lookup->stands", "(lookup->stands")],
     "test_store", "short", ["the_latest_of_what_is_behind_is_read_alone"]),

    ("G21", [("store/indexes/lookup_read.c", "return *checks ? session_begin_snapshot(session, err) : STATUS_OK;",
              "return STATUS_OK;")],
     "test_store", "snapshot", ["a_short_or_strong_look_up_is_one_snapshot"]),

    ("G21", [("store/queries/list_read.c", "if (in->count > 1 && ", "if (in->count == 0 && ")],
     "test_store", "snapshot", ["several_pages_of_lists_are_one_snapshot"]),

    ("G22", [("store/indexes/lookup_read.c",
              "    TRY(read_lag(session, index, operation, err));\n",
              ""),
             ("store/indexes/lookup_read.c",
              "    out->stats.rows_returned = (int64_t)out->count;\n",
              "    TRY(read_lag(session, index, operation, err));\n"
              "    out->stats.rows_returned = (int64_t)out->count;\n")],
     "test_store", "lookup", ["a_page_does_not_miss_what_is_older_than_its_as_of"]),

    ("G22", [("store/short_reads/short_batch.c",
              "    if (flight->lookup_count > 0)\n        TRY(lag_send", "    if (flight->lookup_count > 1000)\n        TRY(lag_send"),
             ("store/short_reads/short_batch.c",
              "    if (!flight->has_lag)\n        TRY(lag_take(session, &flight->lag, err));\n", ""),
             ("store/short_reads/short_batch.c",
              "    TRY(pg_end(&session->pg, err));\n    for (size_t i = 0",
              "    TRY(pg_end(&session->pg, err));\n    TRY(lag_read(session, &flight->lag, err));\n    for (size_t i = 0")],
     "test_store", "lookup", ["a_page_does_not_miss_what_is_older_than_its_as_of"]),

    ("G23", [("store/session/attempt.c", "if (!is_refusal(err) ||\n", "if (!is_refusal(err) || err->status != STATUS_OK ||\n")],
     "test_store", "confirm",
     ["an_index_made_anew_takes_values_of_its_own_type", "a_list_made_a_copy_can_be_read_backwards",
      "a_token_of_a_newer_table_is_of_now"]),

    ("G23", [("store/entities/read_batch.c", "    return session_confirm(session, operation_times_latest_us(batch), err);\n",
              "    return STATUS_OK;\n")],
     "test_store", "confirm", ["an_index_of_another_shape_is_read_as_what_it_is"]),

    ("G24", [("store/transactions/transaction_work.c", ".table_id = target.table_id }", ".table_id = 0 * target.table_id }")],
     "test_store", "incarnations", ["a_step_does_nothing_in_a_later_table_of_its_name"]),

    ("G33", [("store/session/sql/marker_insert.sql", "$3::int8 = (select version from catalogue)", "$3::int8 >= 0")],
     "test_store", "commit", ["a_commit_of_nothing_is_no_success"]),

    ("G29", [("domain/database/history.c", "return remembered->lsn > now->lsn;", "return false;")],
     "test_store", "epoch", ["a_database_behind_what_is_remembered_gets_an_epoch_once"]),

    ("G30", [("store/intents/sql/watermark_read.sql",
              "case when w.newest <= (clock.us + 11644473600000000) * 10 then w.oldest else 0 end",
              "w.oldest"),
             ("store/session/sql/watermark_forget.sql", "where as_of >", "where false and as_of >")],
     "test_store", "fresh", ["a_time_that_lies_ahead_says_nothing"]),

    ("G25", [("store/indexes/state_purge.c", "if (table->indexes[k]->index_id == manifest->items[i].index_id)",
              "if (manifest->items[i].index_id == 0)")],
     "test_store", "index_drop", ["states_that_a_living_index_needs_stay"]),

    ("G34", [("domain/writes/strong_entries.c", "if (was && (change.moves || !is))", "if (was && !is)")],
     "test_store", "strong_index", ["entries_come_move_and_go_with_their_write", "what_is_due_gives_its_entry_to_the_next"]),

    # Only a builder's set has no operations; a statement without rows replaces its lock.
    ("G35", [("store/entities/write_batch.c", "    TRY(pg_send(&session->pg, &sql_entity_lock, &params, err));\n",
              "    if (set->planned_count == 0)\n"
              "        TRY(pg_send(&session->pg, &sql_flush_later, NULL, err));\n"
              "    else\n"
              "        TRY(pg_send(&session->pg, &sql_entity_lock, &params, err));\n")],
     "test_store", "strong_index", ["a_correction_waits_for_the_lock_on_the_entity"]),

    ("G35", [("store/builds/sql/walk_rows_locked.sql", "\nfor no key update", "")],
     "test_store", "strong_index", ["the_builder_waits_for_the_lock_on_the_entity"]),

    ("G36", [("store/entities/owner_rows.c", "    TRY(pg_send(&session->pg, &sql_owner_lock, &params, err));\n",
              "    struct pg_params early;\n"
              "    add_values(&early, &arrays, &session->arena);\n"
              "    TRY(pg_send(&session->pg, &sql_owner_get, &early, err));\n"),
             ("store/entities/owner_rows.c",
              "    TRY(pg_send(&session->pg, &sql_owner_get, &params, err));\n    return pg_sync",
              "    add_keys(&params, &arrays);\n"
              "    TRY(pg_send(&session->pg, &sql_owner_lock, &params, err));\n    return pg_sync"),
             ("store/entities/owner_rows.c",
              "        TRY(pg_next(&session->pg, &created, err));\n        TRY(pg_next(&session->pg, &stored, err));\n",
              "        TRY(pg_next(&session->pg, &stored, err));\n        TRY(pg_next(&session->pg, &created, err));\n")],
     "test_store", "unique_index", ["what_another_takes_is_waited_for", "of_several_servers_exactly_one_wins_each_value"]),

    ("G37", [("domain/writes/unique_owners.c", "return keeps_value(step, i, &values) ? STATUS_OK",
              "return keeps_value(step, i, &values) || slot->is_owned ? STATUS_OK")],
     "test_store", "unique_index", ["a_second_owner_is_refused", "of_several_servers_exactly_one_wins_each_value"]),

    ("G37", [("domain/writes/unique_owners.c", "return is_same(values) && !before->due", "return is_same(values)")],
     "test_store", "unique_index", ["an_entity_without_ownership_has_no_value_to_keep_once_it_has_expired"]),

    ("G45", [("store/entities/sql/entity_upsert_change.sql", "    where not e.dead\n", "")],
     "test_store", "changes", ["an_upsert_that_waited_is_told_as_what_it_replaced"]),

    ("G49", [("store/builds/build_range_owners.c", "key->is_unchanged && k < range->unique_count", "k < range->unique_count")],
     "test_store", "build_range_owners", ["an_entity_that_changed_since_it_was_read_does_not_own_its_old_value"]),

    ("G49", [("store/builds/build_range_write.c",
              "    TRY(build_range_owners_lock(session, range, err));\n    TRY(reread(session, range, err));\n",
              "    TRY(reread(session, range, err));\n    TRY(build_range_owners_lock(session, range, err));\n")],
     "test_store", "build_range_owners", ["versions_are_read_behind_the_owners"]),

    ("G49", [("store/builds/build_range_write.c", " && !key->has_letter", "")],
     "test_store", "build_range_owners", ["a_violation_that_is_noted_before_the_owner_is_known_goes_again"]),

    ("G37", [("store/builds/build_range_write.c", "if (!build_range_owners_may_plan(range, key->plan.upserts[i].index_id))", "if (!build_range_owners_may_plan(range, key->plan.upserts[i].index_id) && !range)")],
     "test_store", "build_range_owners", ["another_build_leaves_owners_as_they_are"]),

    ("G37", [("store/builds/build_range_write.c", "key->is_unchanged && !key->is_unowned", "key->is_unchanged")],
     "test_store", "unique_index", ["the_first_of_those_that_were_there_owns"]),

    ("G38", [("store/verification/sql/report_add.sql", ", sums = $12::bytea", ", sums = substr($12::bytea, 1, 0)")],
     "test_store", "scrub", ["what_a_pass_has_summed_up_survives_between_its_chunks"]),

    ("G39", [("domain/indexes/verify_plan.c", "    if (facts->in_flight)\n        return 0;\n", "")],
     "test_store", "verify", ["what_is_open_is_in_flight_and_no_difference"]),

    ("G40", [("domain/writes/strong_entries.c", ".stored = &row->state->stored,", ".stored = &(const struct manifest){ 0 },")],
     "test_store", "index_update", ["a_write_removes_what_the_manifest_names"]),

    ("G40", [("domain/writes/strong_entries.c", "(!is_empty || asked_before(row, arena))", "(!is_empty || !asked_before(row, arena))")],
     "test_store", "index_update", ["a_write_waits_for_the_insert_of_the_state_row"]),

    ("G40", [("store/entities/sql/state_hold.sql", "    for no key update\n", "")],
     "test_store", "index_update", ["every_snapshot_of_a_strong_index_is_exact"]),

    ("G41", [("store/indexes/sql/update_cancel.sql", "state in (1, 2)", "state = 0")],
     "test_store", "index_update", ["an_operation_of_an_earlier_switch_declares_nothing"]),

    ("G41", [("store/indexes/index_calls.c", "wanted == INDEX_STRONG ? INDEX_BECOMING_STRONG : wanted", "wanted")],
     "test_store", "index_update", ["a_key_that_was_given_up_is_brought_in"]),

    ("G42", [("store/builds/index_build.c", "if (change->state == INDEX_READY)", "if (change->state == INDEX_VALIDATING)")],
     "test_store", "index_replace", ["a_look_up_never_sees_a_gap"]),

    ("G43", [("store/indexes/lookup_read.c", "return operation->in.lookup.freshness.was_strong &&",
              "return operation->in.lookup.freshness.was_strong && false &&")],
     "test_store", "index_replace", ["a_look_up_that_a_strong_index_needed_no_wait_for_asks_again"]),

    ("G44", [("store/session/catalogue_load.c", "           head->version - known->version == PQntuples(changed);",
              "           PQntuples(changed) >= 0;")],
     "test_store", "shared_catalogue", ["a_version_that_says_nothing_is_read_whole"]),

    ("G44", [("store/session/catalogue_load.c", "head->origin == known->origin && head->epoch == known->epoch && ", "")],
     "test_store", "shared_catalogue", ["another_history_is_read_whole"]),

    ("G47", [("store/feed/feed_read.c", "if (pg_int8(result, row, NUMBER) > bound)",
              "if (pg_int8(result, row, NUMBER) > bound && false)")],
     "test_store", "changes", ["a_change_that_commits_late_is_not_skipped"]),

    ("G47", [("store/feed/sql/feed_lock.sql", "pg_advisory_xact_lock_shared(17766, (u.f & 2147483647)::int4)", "1")],
     "test_store", "changes", ["a_writer_announces_itself_before_it_draws"]),

    ("G47", [("store/entities/sql/entity_upsert_change.sql", "pg_advisory_xact_lock_shared(17766, (f.id & 2147483647)::int4)", "1")],
     "test_store", "changes", ["a_writer_announces_itself_before_it_draws"]),

    ("G47", [("store/feed/sql/change_purge.sql", "number <= $4::int8", "number <= $4::int8 + 9223372036")],
     "test_store", "changes", ["a_purge_stops_below_open_transactions"]),

    ("G46", [("api/jwt/web_keys.c", "if (!key || key->algorithm != expected)", "if (!key)")],
     "unit_api", "web_token", ["a_public_key_is_never_a_secret"]),

    ("G58", [("store/short_reads/short_lookup.c", "lookup->reads_around || (lookup->stands && !index_is_strong(lookup->index));",
              "lookup->reads_around;")],
     "test_store", "lookup_versions", ["what_is_open_is_read_at_its_source", "what_was_given_up_is_read_at_its_source"]),

    ("G58", [("store/short_reads/short_lookup.c", "if (!lookup->first->is_behind || lookup->form", "if (lookup->first->is_behind || lookup->form")],
     "test_store", "short", ["what_has_become_open_is_asked_again"]),

    ("G58", [("store/indexes/lookup_read.c", "return lookup_latest_is_behind(session, index, checks, err);", "return STATUS_OK;")],
     "test_store", "lookup_versions", ["what_is_open_is_read_at_its_source", "what_was_given_up_is_read_at_its_source"]),

    ("G59", [("domain/indexes/index_plan.c", "(index->keeps_versions && before->version != after->version) ||", "")],
     "test_store", "lookup_versions", ["an_entry_follows_every_write_of_its_source"]),

    ("G62", [("migrations/0042_wide_entities.sql", "language plpgsql stable", "language plpgsql volatile")],
     "test_store", "wide_entities", ["a_reader_sees_the_parts_of_the_row_that_it_has_read"]),

    # The dependents are not locked before their sources are read.
    ("G69", [("store/entities/sql/entity_lock.sql",
              "on conflict (table_id, partition_key, row_key, bucket) do update set dead = entities.dead where false",
              "on conflict (table_id, partition_key, row_key, bucket) do nothing")],
     "test_store", "copy_work", ["the_source_is_read_after_the_lock_of_the_dependent"]),

    # A visit ends with all intents of its source, also those of changes that came after it began.
    ("G71", [("store/copies/sql/visit_end.sql", "i.bucket = any (array[v.bucket]) and i.id = c.id",
              "i.bucket = v.bucket and i.table_id = $1::int8 and i.partition_key = $2::text and i.row_key = $3::text and i.kind = 4")],
     "test_store", "copy_visit", ["a_change_during_a_visit_asks_for_another_one"]),

    # The list of the parts is read before their row is locked.
    ("G63", [("store/entities/write_batch.c", "    TRY(send_rows(session, set, err));\n",
              "    TRY(part_rows_send_list(session, set, err));\n"
              "    TRY(send_rows(session, set, err));\n"),
             ("store/entities/write_batch.c", "    TRY(state_rows_send_hold(session, set, err));\n"
              "    return part_rows_send_list(session, set, err);", "    return state_rows_send_hold(session, set, err);"),
             ("store/entities/write_batch.c", "    TRY(state_rows_take(session, set, err));\n"
              "    TRY(part_rows_take_list(session, set, err));\n", "    TRY(state_rows_take(session, set, err));\n"),
             ("store/entities/write_batch.c", "    TRY(take_rows(session, set, &stored, err));\n",
              "    TRY(part_rows_take_list(session, set, err));\n"
              "    TRY(take_rows(session, set, &stored, err));\n")],
     "test_store", "wide_entities", ["a_writer_sees_the_parts_as_they_are_under_the_lock"]),

    # The parts come in the statement that locks, which sees them as they were when it began.
    ("G67", [("store/builds/sql/walk_rows_locked.sql", "case when e.spread is null and octet_length",
              "case when e.spread is not null then spread_properties(e.table_id, e.partition_key, e.row_key, e.bucket, e.spread, "
              "2147483647, array['City']) when octet_length")],
     "test_store", "wide_indexes", ["a_builder_reads_the_parts_as_they_are_under_the_lock"]),

    ("G66", [("store/builds/index_build.c", "    TRY(catalogue_change_begin(session, err));\n    pg_recover", "    (void)err;\n    pg_recover")],
     "test_store", "build_range_owners", ["a_violation_that_is_noted_late_goes_again"]),

    ("G66", [("store/builds/index_build.c", "index && index->is_unique && !index_has_manifest(index);",
              "index && index->is_unique && index_has_manifest(index);")],
     "test_store", "build_range_owners", ["a_violation_that_is_noted_before_the_owner_is_known_goes_again"]),

    ("G48", [("http/request_head.c", "return lengths > 1 || codings > 1 || (lengths > 0 && codings > 0) ||", "return lengths > 9 || codings > 1 ||")],
     "test_http", "http_server", ["a_request_whose_end_is_in_doubt_is_refused"]),

    ("G48", [("http/request_head.c", "    if (!has_names(out))\n", "    if (!has_names(out) && false)\n")],
     "test_http", "http_server", ["a_request_whose_end_is_in_doubt_is_refused"]),

    ("G48", [("http/request_head.c", "    if (!is_gapless)\n", "    if (!is_gapless && false)\n")],
     "test_http", "http_server", ["a_head_that_may_be_read_differently_is_refused"]),

    ("G48", [("http/request_head.c", "    if (has_controls(out))\n", "    if (has_controls(out) && false)\n")],
     "test_http", "http_server", ["a_head_that_may_be_read_differently_is_refused"]),

    ("G48", [("http/exchange.c", "http_request_has_header(&exchange->base.request, \"Transfer-Encoding\")", "false")],
     "test_http", "http_server", ["behind_a_request_in_chunks_no_other_is_read"]),

    ("G54", [("store/blobs/sql/blob_append.sql", "and state = 1 and writer = $3::int8", "and state = 1 and (writer = $3::int8 or true)")],
     "test_store", "blobs", ["only_the_last_stream_of_an_upload_appends"]),

    ("G54", [("store/blobs/sql/content_publish.sql", "and state = 1 and writer", "and state in (1, 3) and writer")],
     "test_store", "blobs", ["an_abandoned_upload_is_collected_and_cannot_be_published"]),

    ("G55", [("store/blobs/sql/blob_append.sql", "do update set condemned = null where k.condemned is not null", "do nothing")],
     "test_store", "blobs", ["the_collector_does_not_delete_a_chunk_that_a_stream_is_about_to_name"]),

    ("G56", [("store/blobs/sql/chunks_collect.sql",
              "\n        and not exists (select from blob_parts p where (p.account, p.digest) = (k.account, k.digest))", "")],
     "test_store", "blobs", ["a_chunk_that_another_content_names_stays"]),

    ("G57", [("store/blobs/blob_put.c", "    if (had)\n        TRY(blob_rows_send_discard", "    if (had && !in)\n        TRY(blob_rows_send_discard")],
     "test_store", "blobs", ["a_replaced_content_goes_and_the_new_one_stays"]),

    ("G57", [("store/blobs/blob_calls.c", "    TRY(blob_rows_send_discard(session, operation, &content, err));\n", "")],
     "test_store", "blobs", ["a_deleted_blob_leaves_nothing"]),

    ("G68", [("store/blobs/sql/chunk_hold_stray.sql", " and not removing", ""),
             ("store/blobs/sql/blob_append.sql", " and not s.removing", "")],
     "test_store", "chunk_stores", ["bytes_that_the_collector_is_about_to_remove_become_no_chunk"]),

    ("G68", [("store/blobs/sql/blob_append.sql",
              "s.object_id = $10::uuid and not s.removing)", "s.object_id = $10::uuid and not s.removing) or $10::uuid is not null"),
             ("store/blobs/chunk_bytes.c", "    return PQntuples(rows) > 0\n", "    return PQntuples(rows) >= 0\n")],
     "test_store", "chunk_stores", ["bytes_that_are_gone_become_no_chunk"]),

    ("G68", [("store/blobs/sql/blob_append.sql",
              "and exists (select from blob_chunks k where k.account = $1::text and k.digest = $6::bytea)", "and true")],
     "test_store", "chunk_stores", ["a_chunk_that_is_gone_is_not_named"]),

    ("G68", [("store/blobs/sql/chunk_hold.sql", " for update", "")],
     "test_store", "chunk_stores", ["the_collector_leaves_a_chunk_that_a_stream_has_found"]),

    ("G68", [("store/blobs/chunk_bytes.c", "arena_format(arena, \"%.*s/%.2s/%s-%s\", STR_ARG(folder), hex, hex, id)",
              "arena_format(arena, \"%.*s/%.2s/%s%.0s\", STR_ARG(folder), hex, hex, id)")],
     "test_store", "chunk_stores", ["a_chunk_that_is_put_again_has_another_name_than_the_bytes_that_are_to_go"]),

    ("G73", [("store/background/sql/chunk_move_point.sql", " and not removing", "")],
     "test_store", "chunk_move", ["objects_that_the_collector_is_about_to_remove_become_no_chunks"]),

    ("G73", [("store/background/sql/chunk_move_point.sql",
              "(c.new_object is null or c.new_object in (select object_id from held))", "true")],
     "test_store", "chunk_move", ["objects_that_are_gone_become_no_chunks"]),

    ("G73", [("store/background/sql/chunk_move_point.sql",
              "where k.store = c.old_store and k.object_id is not distinct from c.old_object\n        and", "where")],
     "test_store", "chunk_move", ["a_chunk_that_has_other_bytes_meanwhile_is_left_to_the_next_pass"]),

    ("G60", [("store/entities/sql/held_lock.sql", "\nfor update of c", "")],
     "test_store", "held_blobs", ["a_writer_that_gives_a_content_up_waits_for_one_that_takes_it"]),

    ("G60", [("store/entities/sql/held_lock.sql", "c.state in (2, 4)", "c.state in (2, 3, 4)")],
     "test_store", "held_blobs", ["what_was_given_up_or_never_put_cannot_be_taken"]),

    ("G61", [("store/entities/sql/held_discard.sql",
              "\n    and not exists (select from blob_references r where r.content_id = c.content_id)", "")],
     "test_store", "held_blobs", ["a_content_stays_while_another_entity_holds_it"]),

    ("G74", [("store/entities/sql/part_upsert.sql", "nullif(u.h, '')", "null")],
     "test_store", "held_blobs", ["a_content_stays_while_a_part_that_is_not_read_holds_it",
                                  "a_wide_entity_gives_up_what_its_parts_hold_without_reading_them"]),

    ("G75", [("domain/writes/write_plan.c", "row->needs_intent = row->table->index_count > 0;", "row->needs_intent = false;")],
     "test_store", "lookup_versions", ["an_upsert_of_an_entity_with_an_entry_leaves_an_intent"]),

    ("G75", [("store/entities/write_set.c", "if (!write_plan_always_needs_intent(row, arena))", "if (false)")],
     "test_store", "lookup_versions", ["an_upsert_of_an_entity_without_an_entry_leaves_an_intent_if_there_was_one"]),

    ("G76", [("store/indexes/sql/intent_take_at.sql",
              "    and i.table_id is not distinct from u.t and i.partition_key is not distinct from u.p\n"
              "    and i.row_key is not distinct from u.r and i.bucket is not distinct from u.b and",
              "    and u.t is not null and u.p is not null and u.r is not null and u.b is not null and")],
     "test_store", "source_reads", ["a_wrong_ctid_costs_a_search_and_nothing_else"]),

    ("G76", [("store/indexes/sql/source_get_at.sql",
              "    and e.table_id is not distinct from u.t and e.partition_key is not distinct from u.p\n"
              "    and e.row_key is not distinct from u.r and e.bucket is not distinct from u.b\n",
              "    and u.t is not null and u.p is not null and u.r is not null and u.b is not null\n")],
     "test_store", "source_reads", ["a_wrong_ctid_costs_a_search_and_nothing_else"]),

    ("G76", [("store/indexes/source_reads.c", "    if (flight.sources_by_key.count == 0)\n", "    if (true)\n")],
     "test_store", "source_reads", ["a_wrong_ctid_costs_a_search_and_nothing_else"]),

    ("G76", [("store/entities/sql/entry_remove_at.sql",
              "    and e.table_id is not distinct from u.t and e.partition_key is not distinct from u.p\n"
              "    and e.row_key is not distinct from u.r and e.bucket is not distinct from u.b\n",
              "    and u.t is not null and u.p is not null and u.r is not null and u.b is not null\n")],
     "test_store", "entry_ctids", ["wrong_ctids_of_entries_cost_a_search_and_nothing_else"]),

    ("G76", [("store/indexes/reconcile.c", "    for (size_t i = 0; i < missed->count; i++)\n",
              "    for (size_t i = missed->count; i < missed->count; i++)\n")],
     "test_store", "entry_ctids", ["entries_that_were_moved_are_found_by_their_keys"]),

    ("G8", [("store/indexes/source_keys.c", "key->is_undecodable = key->is_open = key->is_read = false;",
             "key->is_undecodable = key->is_open = false;")],
     "test_store", "source_reads", ["a_reconcile_that_begins_again_reads_again"]),

    # The source of a key whose intent was searched for stays as it was read before.
    ("G9", [("store/indexes/source_reads.c", "return lost_intent(key) || (has_source_ctid(key) && !key->is_read);",
             "return has_source_ctid(key) && !key->is_read;"),
            ("store/indexes/source_reads.c", "    if (flight.sources_by_key.count == 0)\n",
             "    if (flight.sources_by_key.count + flight.intents_by_key.count == 0)\n")],
     "test_store", "source_reads", ["what_is_searched_for_is_followed_by_a_reading"]),

    ("G74", [("domain/writes/held_blobs.c", "blob_reference_list(state->properties, state->rest, arena)",
              "blob_reference_list(state->properties, (struct property_rest){ 0 }, arena)")],
     "test_store", "held_blobs", ["a_content_stays_while_a_part_that_is_not_read_holds_it"]),
]

-- SPDX-License-Identifier: Apache-2.0
-- Renames columns to say what they contain.
--
-- Each renamed table is locked exclusively (ACCESS EXCLUSIVE) from its statement to the commit.
-- Nothing is rewritten: the migration takes some milliseconds, plus the wait for transactions that
-- are open when it begins. Statements of earlier versions fail afterwards: stop their servers and
-- workers first.

-- The marker of a writing transaction: the connection that has inserted it, and the transaction's
-- number on that connection.
alter table commits rename to commit_markers;
alter table commit_markers rename constraint commits_pkey to commit_markers_pkey;
alter table commit_markers rename column lane to connection_id;
alter table commit_markers rename column n to number;

-- The batch that a consumer is about to work on. start_id: random, different for each start of the
-- worker.
alter table in_hand rename to claims;
alter table claims rename constraint in_hand_pkey to claims_pkey;
alter table claims rename column holder to consumer;
alter table claims rename column life to start_id;
alter table claims rename column until to expires_at;

alter table leases rename column lane to bucket_range;
alter table leases rename column until to expires_at;
alter table watermarks rename column lane to bucket_range;

-- owner: the worker that carries the operation out, until claim_expires_at. differences: found in
-- this pass.
alter table operations rename column until to claim_expires_at;
alter table operations rename column faults to differences;

alter table catalogue rename column one to only_row;
alter table queue_map rename column only_one to only_row;

-- Microseconds since 1970: only intents that were made before this time are worked on. 0: none;
-- null: all.
alter table queue_controls rename column works_until to intents_before_us;

-- Digests of the keys that the steps name.
alter table transactions rename column touched to key_digests;

-- The greatest id that was dropped from the list of intents because there were too many.
alter table dead_letters rename column forgotten to last_dropped_intent;

alter function made_us(uuid) rename to intent_created_us;

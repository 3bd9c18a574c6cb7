-- SPDX-License-Identifier: Apache-2.0
-- Steps of transactions whose effect is outside the database. effect: what the step under way will do, stored before
-- it is done (guard G15) and removed with the step's end; null: no such step is under way. Programs before this one
-- do not know such steps; servers accept them only if they are configured to.
-- programs: 36
-- locks: transactions moment
alter table transactions add column effect bytea;

-- SPDX-License-Identifier: Apache-2.0
-- Entities that expire: who reads skips those whose time has come, the sweeper deletes them later. The clock is this
-- database's, of the statement: a statement that follows a lock is later than the lock. It is one expression, so
-- that PostgreSQL puts it in place.
create function is_due(expires bigint) returns boolean language sql stable parallel safe as $$
    select expires is not null
        and expires <= ((extract(epoch from statement_timestamp()) + 11644473600) * 10000000)::int8
$$;
create index entities_expires on entities (expires) where expires is not null;

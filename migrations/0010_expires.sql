-- SPDX-License-Identifier: Apache-2.0
-- Entities that expire: reads skip expired ones, and the sweeper deletes them later. The time is
-- that of the statement, by the database's clock: a statement that follows a lock is later than the
-- lock. The function is one expression, so that PostgreSQL inlines it.
create function is_due(expires bigint) returns boolean language sql stable parallel safe as $$
    select expires is not null
        and expires <= ((extract(epoch from statement_timestamp()) + 11644473600) * 10000000)::int8
$$;
create index entities_expires on entities (expires) where expires is not null;

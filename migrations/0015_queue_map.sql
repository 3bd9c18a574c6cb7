-- SPDX-License-Identifier: Apache-2.0
-- How work is spread over queues: an intent is in the queue bucket % queues. One row; the version
-- counts the changes.
create table queue_map (
    only_one boolean  primary key default true check (only_one),
    version  bigint   not null,
    queues   smallint not null check (queues between 1 and 64)
);
insert into queue_map (version, queues) values (1, 4);

-- SPDX-License-Identifier: Apache-2.0
-- The operations of an account that have not ended. operations is locked against writers while its
-- rows are read once.
create index operations_open on operations (account) where state in (1, 2);

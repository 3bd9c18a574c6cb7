-- SPDX-License-Identifier: Apache-2.0
-- The last number that any transaction has drawn, committed or not; 0: none. Runs before
-- feed_writers.
select case when is_called then last_value else 0 end from change_numbers

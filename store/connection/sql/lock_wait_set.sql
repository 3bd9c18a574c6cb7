-- SPDX-License-Identifier: Apache-2.0
-- Change how long the statements of this session wait for a lock.
--
-- $1 milliseconds
-- columns: the setting
select set_config('lock_timeout', $1::int8::text, false)

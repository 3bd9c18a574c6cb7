-- SPDX-License-Identifier: Apache-2.0
-- Older markers of this connection: their transactions have been answered.
delete from commits where bucket = 0 and lane = $1::int8 and n < $2::int8

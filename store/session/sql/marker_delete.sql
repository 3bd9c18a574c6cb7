-- SPDX-License-Identifier: Apache-2.0
-- Delete the markers of connection $1 with numbers from $3 up to $2, which is left: the COMMITs of
-- their transactions have been answered.
delete from commit_markers
where bucket = 0 and connection_id = $1::int8 and number >= $3::int8 and number < $2::int8

-- SPDX-License-Identifier: Apache-2.0
-- $1 bucket ranges, ascending, $2 up to when each has applied everything (ticks), $3 how many intents it has open.
update watermarks w
set as_of = u.a, open_intents = u.o
from unnest($1::int2[], $2::int8[], $3::int8[]) u(bucket_range, a, o)
where w.bucket_range = u.bucket_range

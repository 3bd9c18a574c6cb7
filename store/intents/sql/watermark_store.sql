-- SPDX-License-Identifier: Apache-2.0
-- Store the watermarks of the bucket ranges $1, ascending: $2 the time up to which each has applied
-- everything (ticks), $3 the number of its open intents.
update watermarks w
set as_of = u.a, open_intents = u.o
from unnest($1::int2[], $2::int8[], $3::int8[]) u(bucket_range, a, o)
where w.bucket_range = u.bucket_range

-- SPDX-License-Identifier: Apache-2.0
-- Delete the intents with the buckets $1 and ids $2, arrays of the same length, and no others
-- (guard G9).
delete from intents i
using unnest($1::int2[], $2::uuid[]) u(b, id)
where i.bucket = any (array[u.b]) and i.id = u.id

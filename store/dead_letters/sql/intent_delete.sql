-- SPDX-License-Identifier: Apache-2.0
-- Remove exactly these intents: $1 buckets, $2 ids, arrays of one length (guard G9).
delete from intents i
using unnest($1::int2[], $2::uuid[]) u(b, id)
where i.bucket = any (array[u.b]) and i.id = u.id

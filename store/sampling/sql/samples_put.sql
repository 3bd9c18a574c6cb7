-- SPDX-License-Identifier: Apache-2.0
-- Store samples of server $1: tables $2, spans $3, periods $4, seconds $5, contents $6. A sample
-- replaces an earlier one of the same period.
insert into samples (table_id, span, server, period, at, seconds, content)
select t, s, $1::int8, p, now(), n, c
from unnest($2::int8[], $3::int2[], $4::int8[], $5::int8[], $6::bytea[]) u(t, s, p, n, c)
on conflict (table_id, span, server, period) do update
set at = excluded.at, seconds = excluded.seconds, content = excluded.content

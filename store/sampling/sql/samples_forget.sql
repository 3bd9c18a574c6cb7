-- SPDX-License-Identifier: Apache-2.0
-- Samples that nobody reads any more, and what is left of a clock that went back.
delete from samples
where at < now() - interval '8 days' or at > now() + interval '10 minutes'
   or (span = 1 and at < now() - interval '3 minutes') or (span = 2 and at < now() - interval '80 minutes')

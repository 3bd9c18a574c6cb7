-- SPDX-License-Identifier: Apache-2.0
-- Samples that nobody reads any more, and what is left of a clock that went back. By samples_at.
delete from samples
where at < now() - interval '80 minutes' or at > now() + interval '10 minutes'
   or (span = 1 and at < now() - interval '3 minutes')

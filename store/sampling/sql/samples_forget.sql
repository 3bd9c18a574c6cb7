-- SPDX-License-Identifier: Apache-2.0
-- Delete samples that no reader needs any more, and those with a time in the future, which exist
-- after the clock was set back.
delete from samples
where at < now() - interval '8 days' or at > now() + interval '10 minutes'
   or (span = 1 and at < now() - interval '3 minutes') or (span = 2 and at < now() - interval '80 minutes')

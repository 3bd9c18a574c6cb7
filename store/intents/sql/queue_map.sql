-- SPDX-License-Identifier: Apache-2.0
-- How work is spread over queues: version, queues.
select version, queues from queue_map

-- SPDX-License-Identifier: Apache-2.0
-- Begin one snapshot for several reads. It locks nothing (guard G0).
begin isolation level repeatable read, read only

-- SPDX-License-Identifier: Apache-2.0
-- One snapshot for several reads. Nothing is locked in it (guard G0).
begin isolation level repeatable read, read only

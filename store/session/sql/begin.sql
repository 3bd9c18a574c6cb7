-- SPDX-License-Identifier: Apache-2.0
-- Begin a transaction. Its isolation is the session's: READ COMMITTED (guard G0).
begin

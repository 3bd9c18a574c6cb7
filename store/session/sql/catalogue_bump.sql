-- SPDX-License-Identifier: Apache-2.0
-- What was planned with the catalogue as it was before this must be planned again (guard G1).
update catalogue set version = version + 1

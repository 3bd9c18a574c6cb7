-- SPDX-License-Identifier: Apache-2.0
-- Raise the floor to $1, so that no write gets a version at or below $1. The caller holds the fence
-- exclusively (guard G3).
update catalogue set floor = greatest(floor, $1::int8)

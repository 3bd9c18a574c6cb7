-- SPDX-License-Identifier: Apache-2.0
-- The catalogue as of now, in a statement after the fence (guard G1), and the database's clock in
-- microseconds since 1970 (guard G13).
select version, floor, epoch, (extract(epoch from now()) * 1000000)::int8 from catalogue

-- SPDX-License-Identifier: Apache-2.0
-- The catalogue's version, to compare it with that of a catalogue that was read before.
select version from catalogue

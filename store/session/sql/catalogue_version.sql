-- SPDX-License-Identifier: Apache-2.0
-- Only the version: is a catalogue that was read before still the one in force?
select version from catalogue

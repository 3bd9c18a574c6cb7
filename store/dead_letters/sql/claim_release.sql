-- SPDX-License-Identifier: Apache-2.0
-- Holder $1, in its life $2, has nothing in hand.
delete from in_hand where holder = $1::text and life = $2::text

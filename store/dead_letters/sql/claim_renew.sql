-- SPDX-License-Identifier: Apache-2.0
-- Keep holder $1's hand, in its life $2, for another $3 milliseconds.
update in_hand
set until = now() + $3::int8 * interval '1 millisecond'
where holder = $1::text and life = $2::text

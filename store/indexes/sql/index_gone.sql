-- SPDX-License-Identifier: Apache-2.0
-- Remove index $1, which is dropped and has no entries any more, and its reports.
with entries as (
    delete from tables where table_id = $1::int8 and not live
), differences as (
    delete from index_differences d using index_reports r where r.index_id = $1::int8 and d.operation_id = r.operation_id
), reports as (
    delete from index_reports where index_id = $1::int8
), scrubs as (
    delete from index_scrubs where index_id = $1::int8
)
delete from indexes where index_id = $1::int8 and state = 4

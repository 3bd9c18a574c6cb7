-- SPDX-License-Identifier: Apache-2.0
-- End those of our own sessions whose program has stopped reading or sending in the middle of a
-- transaction. $1: the minimum age of both the transaction and its last statement, in milliseconds.
-- Columns: pid, program, the wait event, and its duration in milliseconds.
-- Such a session would hold its locks for ever: idle_in_transaction_session_timeout and
-- statement_timeout do not count while PostgreSQL sends (ClientWrite) or waits for the rest of a
-- pipeline (ClientRead, active). A role may end its own sessions.
with standing as materialized (
    select a.pid, a.application_name, a.wait_event,
        (extract(epoch from clock_timestamp() - a.state_change) * 1000)::int8 as ms
    from pg_stat_activity a
    where a.datname = current_database() and a.usename = current_user and a.pid <> pg_backend_pid()
        and (starts_with(a.application_name, 'tavola') or a.application_name = current_setting('application_name'))
        and a.state = 'active' and a.wait_event in ('ClientWrite', 'ClientRead')
        and a.xact_start < clock_timestamp() - $1::int8 * interval '1 millisecond'
        and a.state_change < clock_timestamp() - $1::int8 * interval '1 millisecond'
)
select pid::int8, application_name, wait_event, ms from standing where pg_terminate_backend(pid) order by ms desc

-- What is controlled: queue, kind, works_until, rate.
select queue, kind, works_until, rate from queue_controls where works_until is not null or rate > 0

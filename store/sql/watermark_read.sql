-- Up to when everything acknowledged has been applied (ticks; 0: nobody has looked yet), the number of open
-- intents, and the database's clock in microseconds since 1970.
select min(as_of), sum(open_intents)::int8, (extract(epoch from now()) * 1000000)::int8 from watermarks

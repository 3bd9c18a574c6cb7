-- The id of a new build of an index, and of its entries' table; never reused.
select nextval('table_ids')

-- Fail on purpose (division by zero, 22012) when the catalogue is no longer at version $1.
select 1 / count(*) from catalogue where version = $1::int8

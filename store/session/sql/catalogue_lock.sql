-- The catalogue's version, and nobody changes it before this transaction ends.
select version from catalogue for update

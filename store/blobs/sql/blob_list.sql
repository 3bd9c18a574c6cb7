-- SPDX-License-Identifier: Apache-2.0
-- Up to $4 blobs of account $1 behind the name $2 whose names begin with $3. The upper bound, which
-- is longer than any name, ends the scan of the primary key.
select name, content_id, size, content_type, sha256, created from blobs
where account = $1::text and name > $2::text and name >= $3::text
    and name < $3::text || repeat(chr(1114111), 257) and starts_with(name, $3::text)
order by name
limit $4::int8

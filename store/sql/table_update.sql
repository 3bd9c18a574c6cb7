-- Changes the settings of live table $1 of account $2 (its name in lower case); $3: the default plan is set to $4.
update tables set default_max_plan = case when $3::bool then $4::int2 else default_max_plan end
where live and account = $2::text and folded = $1::text
returning table_id

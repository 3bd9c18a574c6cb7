update indexes set state = 4 where source_table_id = $1::int8

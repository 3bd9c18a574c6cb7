update leases set owner = '', until = now() - interval '1 second' where owner = $1::text

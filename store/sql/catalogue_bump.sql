update catalogue set version = version + 1

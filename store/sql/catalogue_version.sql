select version from catalogue

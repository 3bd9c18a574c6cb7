-- SPDX-License-Identifier: Apache-2.0
-- What accounts have set for their table services: logging, metrics, CORS rules. Takes no lock on other tables.
create table service_properties (
    account    text  collate "C" primary key, -- its id
    properties bytea not null                 -- domain/catalogue/service_properties.h
);

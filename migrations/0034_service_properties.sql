-- SPDX-License-Identifier: Apache-2.0
-- The settings of accounts' table services: logging, metrics, CORS rules. No other table is locked.
create table service_properties (
    account    text  collate "C" primary key, -- its id
    properties bytea not null                 -- domain/catalogue/service_properties.h
);

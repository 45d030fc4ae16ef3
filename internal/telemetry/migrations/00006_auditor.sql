-- +goose Up
-- The auditor looks for the customers whose last try was refused, by router.
create index on {schema}.refusals (device_id, at);

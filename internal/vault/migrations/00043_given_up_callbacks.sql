-- +goose Up
-- Callbacks that led to nothing are a list of their own (docs/rules/payments.md#failed-callbacks).
create index on {schema}.callbacks (id) where last_failure <> '';

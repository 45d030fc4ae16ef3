-- +goose Up
-- When a callback came into the inbox, by the database's clock: for how long cuts wait for it must not depend on the
-- clocks of two machines. docs/rules/access-dunning.md#cuts-wait-for-money
alter table {schema}.callbacks add column stored_at timestamptz not null default now();
-- Programs of the versions before served_at do not give it, and take money.
alter table {schema}.presence_programs alter column served_at set default now();

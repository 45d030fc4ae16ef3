-- +goose Up
-- Since when the other side does not accept a secret; null = it does, as far as is known.
-- docs/rules/payments-billmanager.md#platform-level
alter table {schema}.secrets add column refused_since timestamptz;

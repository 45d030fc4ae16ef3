-- +goose Up
-- The fingerprint of addresses that were sent after others were registered or tried, and whose answer was lost.
-- docs/rules/payments.md#registered-addresses
alter table {schema}.callback_secrets add column tried text not null default '';

-- +goose Up
-- A key is now an HMAC, and a command's id follows from the instant when the key was first used. Marks of before are
-- under other keys, so no request can find them: they go. docs/rules/http.md#idempotency
delete from {schema}.idempotency;
alter table {schema}.idempotency add column first_used_at timestamptz not null;

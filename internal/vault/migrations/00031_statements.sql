-- +goose Up
-- Statements of the payment provider that somebody uploaded, and how they differ from the receipts, both sealed: they
-- name people; docs/rules/money.md#reconciliation
create table {schema}.statements (
	id uuid primary key,
	sealed bytea not null,
	stored_at timestamptz not null
);
create table {schema}.statement_outcomes (
	id uuid primary key,
	sealed bytea not null,
	stored_at timestamptz not null
);
create index statements_age on {schema}.statements (stored_at);

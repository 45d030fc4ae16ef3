-- +goose Up
-- The latest nightly check of the books of each organization; the zero id is the platform. docs/books.md
create table {schema}.book_checks (
	org_id     uuid primary key,
	tried_at   timestamptz not null, -- when the latest try began, also one that was broken off
	checked_at timestamptz,          -- when the latest check that came to its end began; null = never
	faults     jsonb not null default '{}' -- their number by code
);

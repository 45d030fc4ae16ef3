-- +goose Up
-- When each CPE was refused last for want of its password: operational, not derived from the log.
create table {schema}.refusals (
	cpe_id uuid primary key,
	at     timestamptz not null
);

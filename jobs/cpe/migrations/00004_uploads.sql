-- +goose Up
-- How many bytes came of each upload test that has not ended yet.
create table {schema}.uploads (
	operation_id uuid primary key,
	bytes        bigint      not null,
	at           timestamptz not null
);

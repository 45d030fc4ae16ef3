-- +goose Up
-- How far the CPE server was read: one row.
create table {schema}.synced (
	one   boolean primary key default true check (one),
	since timestamptz not null, -- the next reading begins with calls at it
	whole timestamptz not null  -- when all devices were read last
);

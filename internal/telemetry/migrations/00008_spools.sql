-- +goose Up
-- What each program that hears routers has on its disk for the tables. One row for each program.
create table {schema}.spools (
	program     text        primary key,
	waits_since timestamptz,          -- when the oldest report on the disk came; null = nothing waits
	told_at     timestamptz not null  -- when the program told this last
);

-- +goose Up
-- The time by which the program's clock is ahead of the machine's, in nanoseconds. One row, in development only.
create table {schema}.clock_ahead (
	single boolean primary key default true check (single),
	ahead  bigint not null check (ahead > 0)
);

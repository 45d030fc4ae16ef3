-- +goose Up
-- Files that wait to be read, or to be fetched, in sealed parts. docs/rules/subscribers-import.md#files
create table {schema}.files (
	key       uuid primary key, -- derived from file and part
	file      uuid        not null,
	part      integer     not null, -- from 0
	org_id    uuid        not null,
	sealed    bytea       not null,
	ends_at   timestamptz not null, -- when it is removed, if nobody does before
	unique (file, part)
);
create index on {schema}.files (ends_at);

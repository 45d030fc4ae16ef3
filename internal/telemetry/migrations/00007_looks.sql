-- +goose Up
-- When the auditor saw each router last. One row for each router.
create table {schema}.looks (
	device_id    uuid        primary key,
	org_id       uuid        not null,
	tried_at     timestamptz not null, -- the latest look, whatever came of it
	looked_at    timestamptz,          -- the latest one that compared; null = none
	unseen_since timestamptz,          -- the first of those that could not compare since then; null = the latest compared
	why          text        not null  -- of the latest one; '' = it compared
);
create index on {schema}.looks (org_id);
create index on {schema}.looks (tried_at);

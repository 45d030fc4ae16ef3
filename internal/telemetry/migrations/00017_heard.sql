-- +goose Up
-- When a router of each organization reported last, about anything, as of half a minute.
create table {schema}.heard (
	org_id uuid        primary key,
	at     timestamptz not null, -- by the program's clock, as the instants of sessions
	since  timestamptz not null, -- it was heard all the time until then, without a long gap
	before timestamptz           -- the last report before that gap; null = there was none
) with (fillfactor = 50);
insert into {schema}.heard (org_id, at, since)
	select org_id, max(updated_at), max(updated_at) from {schema}.sessions where ended_at is null group by org_id;
-- The sessions of an organization that ended without a report, for who fell silent.
create index on {schema}.sessions (org_id, ended_at) where ended_by = 2;

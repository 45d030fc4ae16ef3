-- +goose Up
-- Refused sign-ins, added up by UTC day. One row for each subscription, router and reason, so that a router that repeats
-- a refused sign-in all day costs one row.
create table {schema}.refusals (
	org_id          uuid        not null,
	device_id       uuid        not null, -- zero = a router that is not known
	subscription_id uuid        not null, -- zero = the sign-in named nobody who is known
	subscriber_id   uuid        not null, -- zero likewise
	code            text        not null,
	day             date        not null,
	first_at        timestamptz not null,
	at              timestamptz not null, -- the latest one
	count           bigint      not null,
	primary key (org_id, subscriber_id, subscription_id, device_id, code, day)
) with (fillfactor = 80);
create index on {schema}.refusals (day);

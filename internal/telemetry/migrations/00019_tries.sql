-- +goose Up
-- Refused sign-ins as routers sent them, added up by UTC day: who tried, from which device and port. What one router
-- can invent in a day is bounded by the program.
create table {schema}.tries (
	org_id          uuid        not null, -- of the router
	device_id       uuid        not null,
	code            text        not null,
	day             date        not null,
	username        text        not null, -- as it was typed
	calling         text        not null, -- the MAC where there is one, else Calling-Station-Id
	subscriber_id   uuid        not null, -- zero = the sign-in named nobody who is known
	subscription_id uuid        not null, -- zero likewise
	port            text        not null, -- NAS-Port-Id of the latest one
	first_at        timestamptz not null,
	at              timestamptz not null, -- the latest one
	count           bigint      not null,
	primary key (org_id, device_id, code, day, username, calling, subscriber_id, subscription_id)
) with (fillfactor = 80);
create index on {schema}.tries (day);
create index on {schema}.tries (org_id, subscriber_id);

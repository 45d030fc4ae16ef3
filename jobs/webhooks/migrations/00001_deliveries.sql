-- +goose Up
-- Messages on their way to endpoints of organizations' own systems: operational, not derived from the log (ADR 0030).
create table {schema}.deliveries (
	delivery_id uuid primary key,
	org_id      uuid        not null,
	webhook_id  uuid        not null,
	message_id  uuid        not null,
	type        text        not null,
	position    bigint      not null,             -- of the message in the log
	body        text        not null,             -- the envelope: the same bytes in every attempt
	once        boolean     not null,             -- a ping, which is not repeated
	state       text        not null,             -- 'pending', 'delivered' or 'failed'
	error       text        not null default '',  -- why it ended, when no attempt says so
	attempts    jsonb       not null default '[]',
	tries       integer     not null default 0,   -- attempts, also those that are not kept
	failures    integer     not null default 0,   -- attempts that failed since it was asked for last
	next_at     timestamptz,                      -- null = it has ended
	begun_at    timestamptz,                      -- an attempt is under way; its outcome is not recorded yet
	created_at  timestamptz not null,
	ended_at    timestamptz
);
create index deliveries_newest on {schema}.deliveries (org_id, created_at desc, delivery_id desc);
create index deliveries_of_webhook on {schema}.deliveries (org_id, webhook_id, created_at desc, delivery_id desc);
create index deliveries_of_state on {schema}.deliveries (org_id, state, created_at desc, delivery_id desc);
create index deliveries_due on {schema}.deliveries (webhook_id, next_at, position)
	where state = 'pending' and begun_at is null;
create index deliveries_begun on {schema}.deliveries (begun_at) where begun_at is not null;
create index deliveries_ended on {schema}.deliveries (ended_at) where ended_at is not null;

-- Up to which message of the outbox there are deliveries.
create table {schema}.progress (
	one      boolean primary key default true check (one),
	position bigint  not null,
	ordinal  integer not null
);
insert into {schema}.progress (position, ordinal) values (-1, 2147483647);

-- Endpoints at which the last attempt failed.
create table {schema}.failing (
	webhook_id       uuid primary key,
	org_id           uuid        not null,
	enabled_position bigint      not null, -- of the event that enabled the endpoint last
	since            timestamptz not null, -- the first failure after the last success
	failed           integer     not null  -- deliveries whose first attempt failed since then
);

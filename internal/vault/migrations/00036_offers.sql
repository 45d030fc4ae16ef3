-- +goose Up
-- Messages that are being handed to a gateway: one that a stop interrupts is not handed over again.
-- docs/rules/messaging.md#handed-over-once
create table {schema}.offers (
	message_id uuid primary key,
	began_at   timestamptz not null,
	taken      boolean     not null default false, -- the gateway took it, and its event is missing yet
	reference  text        not null default '',    -- of the provider
	cost       text        not null default ''     -- in the provider's words
);
create index on {schema}.offers (began_at);

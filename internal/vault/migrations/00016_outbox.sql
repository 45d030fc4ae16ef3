-- +goose Up
-- Messages that were not sent because no gateway is set: development reads them. docs/rules/messaging.md#gateways
create table {schema}.outbox (
	id            uuid primary key, -- of the message
	org_id        uuid,             -- null = of the platform
	subscriber_id uuid,             -- null = to somebody who is no customer
	at            timestamptz not null,
	channel       text        not null,
	address       text        not null,
	template      text        not null,
	subject       text        not null,
	body          text        not null
);
create index on {schema}.outbox (at desc, id desc);
create index on {schema}.outbox (subscriber_id) where subscriber_id is not null;

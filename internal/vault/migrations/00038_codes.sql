-- +goose Up
-- One-time codes: the newest request for each address at a host. docs/rules/identity.md#codes
create table {schema}.codes (
	key        bytea       primary key, -- HMAC of host and address
	request    uuid        not null unique,
	org_id     uuid,                 -- whose host it is; null = the root host
	channel    text        not null, -- sms or email
	sealed     bytea       not null, -- the address
	asked_at   timestamptz not null,
	code       bytea,                -- HMAC of the request and its code; null = none was sent yet
	expires_at timestamptz,
	tries      int         not null default 0
);
create index on {schema}.codes (asked_at);
-- Proven addresses that wait for the choice of an organization. docs/rules/identity.md#choosing-an-organization
create table {schema}.verified (
	hash       bytea       primary key, -- SHA-256 of the token
	sealed     bytea       not null, -- the address
	expires_at timestamptz not null
);
create index on {schema}.verified (expires_at);

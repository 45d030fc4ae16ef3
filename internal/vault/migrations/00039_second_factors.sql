-- +goose Up
-- Second factors, and what is stored of their recovery codes. docs/rules/identity.md#second-factor
create table {schema}.second_factors (
	id           uuid        primary key,
	user_id      uuid        not null,
	sealed       bytea       not null, -- the secret of its codes
	last_step    bigint      not null, -- of the last code that was used
	confirmed_at timestamptz not null
);
create table {schema}.recovery_codes (
	factor_id uuid  not null references {schema}.second_factors (id) on delete cascade,
	hash      bytea not null, -- HMAC of factor and code
	primary key (factor_id, hash)
);
-- Secrets that were shown to somebody who has not shown a code of them yet.
create table {schema}.second_factor_offers (
	user_id   uuid        primary key,
	factor_id uuid        not null,
	sealed    bytea       not null,
	made_at   timestamptz not null,
	tries     int         not null default 0
);
create index on {schema}.second_factor_offers (made_at);
-- Sign-ins that wait for their second factor.
create table {schema}.waiting_sign_ins (
	hash       bytea       primary key, -- SHA-256 of the token
	user_id    uuid        not null,
	factor_id  uuid        not null,
	org_id     uuid,                 -- null = the root host
	method     text        not null,
	browser    text        not null,
	expires_at timestamptz not null,
	tries      int         not null default 0,
	spent      boolean     not null default false -- its code was right
);
create index on {schema}.waiting_sign_ins (user_id);
create index on {schema}.waiting_sign_ins (expires_at);
-- Changes of own addresses that wait for their two codes, the newest of each user. docs/rules/identity.md#own-addresses
create table {schema}.address_changes (
	user_id  uuid        primary key,
	id       uuid        not null unique,
	sealed   bytea       not null, -- both addresses
	asked_at timestamptz not null
);
create index on {schema}.address_changes (asked_at);
alter table {schema}.codes add column purpose text not null default ''; -- '' = to sign in

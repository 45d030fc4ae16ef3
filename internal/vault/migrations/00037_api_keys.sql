-- +goose Up
-- Secrets of API keys, as HMACs, and the last use of each key; docs/rules/identity.md#stored-api-keys
create table {schema}.api_keys (
	secret_id uuid primary key, -- it stands in the text of the key
	key_id    uuid        not null,
	hash      bytea       not null,
	made_at   timestamptz not null,
	ends_at   timestamptz -- null: as long as nobody ends it
);
create index on {schema}.api_keys (key_id);
create index on {schema}.api_keys (ends_at) where ends_at is not null;
create table {schema}.api_key_uses (
	key_id     uuid primary key,
	used_at    timestamptz not null,
	ip         text        not null, -- '' when it is forgotten
	written_at timestamptz not null
);

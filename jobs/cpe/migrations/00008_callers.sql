-- +goose Up
-- CPEs that have called and wait to be claimed: operational, not derived from the log.
create table {schema}.callers (
	cpe_id        uuid primary key,
	serial_number text        not null,
	oui           text        not null,
	product_class text        not null,
	source        text        not null, -- the network of the address that it tells; '' = it tells none
	refused       text        not null, -- why it cannot be claimed; '' = it can
	taken         boolean     not null default false, -- an organization has it
	first_seen    timestamptz not null,
	at            timestamptz not null  -- of the last call
);
create index on {schema}.callers (first_seen desc, cpe_id desc) where not taken;
create index on {schema}.callers (at) where not taken;

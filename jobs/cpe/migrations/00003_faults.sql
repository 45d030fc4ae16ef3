-- +goose Up
-- Faults that the CPE server has noted for devices that are known: operational, not derived from the log.
create table {schema}.faults (
	fault_id      uuid primary key,     -- follows from server_id
	server_id     text        not null, -- by which the CPE server knows it
	cpe_id        uuid        not null,
	org_id        uuid,                 -- to whom it is shown; null = to nobody: it is older than the claim
	serial_number text        not null,
	channel       text        not null,
	code          text        not null,
	message       text        not null,
	parameters    jsonb       not null, -- that the device refused
	retries       int         not null,
	first_seen    timestamptz not null,
	last_seen     timestamptz not null,
	reading       uuid        not null, -- that has seen it last
	gone_at       timestamptz           -- when it was cleared, or a reading did not find it any more
);
create index on {schema}.faults (org_id, first_seen desc, fault_id desc) where org_id is not null and gone_at is null;
create index on {schema}.faults (cpe_id);
create index on {schema}.faults (gone_at) where gone_at is not null;

-- +goose Up
alter table {schema}.sessions
	add column nas_port         bigint not null default 0, -- NAS-Port, 0 = not known
	add column framed_prefix    cidr,                      -- IPv6, of the link to the customer
	add column delegated_prefix cidr;                      -- IPv6, for the customer's own networks
drop index {schema}.sessions_ended_at_idx2;
create index on {schema}.sessions (ended_at) where ended_at is not null
	and (ip is not null or framed_prefix is not null or delegated_prefix is not null);
create index on {schema}.sessions (org_id, framed_prefix, started_at desc, id desc) where framed_prefix is not null;
create index on {schema}.sessions (org_id, delegated_prefix, started_at desc, id desc)
	where delegated_prefix is not null;

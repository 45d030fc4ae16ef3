-- +goose Up
-- What routers said when they were polled: operational, not derived from the log, kept for a while.
create table {schema}.fleet (
	device_id       uuid primary key,
	org_id          uuid        not null,
	at              timestamptz not null,
	reachable       boolean     not null,
	error           text        not null,
	board_name      text        not null,
	version         text        not null,
	cpu_percent     integer     not null,
	memory_percent  integer     not null,
	uptime_seconds  bigint      not null,
	active_sessions integer     not null,
	response_ms     bigint      not null
);
create index on {schema}.fleet (org_id);

create table {schema}.polls (
	device_id       uuid        not null,
	at              timestamptz not null,
	org_id          uuid        not null,
	reachable       boolean     not null,
	cpu_percent     integer     not null,
	memory_percent  integer     not null,
	active_sessions integer     not null,
	response_ms     bigint      not null,
	primary key (device_id, at)
);
create index on {schema}.polls (at);

-- +goose Up
-- One row for each process: its checkpoint, and the position up to which its outputs are suppressed
-- (docs/rules/engine.md#history-stays-quiet).
create table {schema}.processes (
	name       text   primary key,
	checkpoint bigint not null default 0,
	live_from  bigint not null,
	error      text   not null default ''
);

-- State of the instances. The row of an ended instance stays until the checkpoint has passed it, so that no event is
-- taken twice.
create table {schema}.instances (
	process       text    not null,
	key           text    not null,
	state         jsonb,
	last_position bigint  not null,
	ended         boolean not null default false,
	primary key (process, key)
);
create index instances_ended on {schema}.instances (process, last_position) where ended;

-- Commands to execute; those of one instance in the order of seq.
create table {schema}.commands (
	id      uuid   primary key,
	seq     bigint generated always as identity,
	process text   not null,
	key     text   not null,
	name    text   not null,
	body    jsonb  not null,
	cause   jsonb  not null
);
create index commands_next on {schema}.commands (process, key, seq);

-- Armed timers, at most one of a name for each instance.
create table {schema}.timers (
	process text        not null,
	key     text        not null,
	name    text        not null,
	due_at  timestamptz not null,
	cause   jsonb       not null,
	primary key (process, key, name)
);
create index timers_due on {schema}.timers (process, due_at);

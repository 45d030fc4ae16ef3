-- +goose Up
-- The term of the program that drives the processes. Each transaction of an instance checks it, so that a program that
-- lost its lock writes nothing beside the next one.
create table {schema}.leader (
	only_row boolean primary key default true check (only_row),
	epoch    bigint  not null
);

-- An instance that met an input that it cannot take has an error and stands still until a person asks for a retry.
-- Outputs of its events up to quiet are suppressed: they were executed before a rebuild.
alter table {schema}.instances
	add column error      text   not null default '',
	add column stopped_at timestamptz,
	add column quiet      bigint not null default 0;
create index instances_stopped on {schema}.instances (process, key) where error <> '';

-- Events of stopped instances that are taken after a retry, in the order of the log. A reader finds an event when it
-- reads on from after. Outputs of a quiet one are suppressed.
create table {schema}.held (
	process  text    not null,
	key      text    not null,
	position bigint  not null,
	after    bigint  not null,
	quiet    boolean not null,
	primary key (process, key, position)
);

-- A command with stopped_at has used up its attempts, and is executed again after a retry only.
alter table {schema}.commands
	add column attempts   int  not null default 0,
	add column error      text not null default '',
	add column stopped_at timestamptz;
create index commands_stopped on {schema}.commands (process, key) where stopped_at is not null;

-- Retries that a person asked for; an empty key means the whole process. The program that drives the processes deletes
-- a row when it has done what the row asks for.
create table {schema}.requests (
	process text not null,
	key     text not null,
	primary key (process, key)
);

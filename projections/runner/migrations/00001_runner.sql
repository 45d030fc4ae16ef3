-- +goose Up
-- One row for each set of tables of a projection. Readers use the active set. A building set is filled beside it. A
-- retired set is dropped ten minutes after the switch.
create table {schema}.projection_versions (
	name       text   not null,
	generation int    not null,
	version    int    not null,
	schema     text   not null,
	state      text   not null check (state in ('active', 'building', 'retired')),
	position   bigint not null default 0,
	error      text   not null default '',
	retired_at timestamptz,
	primary key (name, generation)
);
create unique index projection_versions_active on {schema}.projection_versions (name) where state = 'active';
create unique index projection_versions_building on {schema}.projection_versions (name) where state = 'building';

-- Requests of the command line to the program that fills the projections, which deletes each when it takes it.
create table {schema}.projection_requests (
	name text not null,
	kind text not null check (kind in ('rebuild', 'retry')),
	primary key (name, kind)
);

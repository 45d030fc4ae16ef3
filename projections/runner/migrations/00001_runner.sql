-- +goose Up
-- One row for each set of tables of a projection. Readers use the active one; a building one is filled beside it; a
-- retired one is dropped ten minutes after the switch.
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

-- What the command line asks of the program that fills the projections.
create table {schema}.projection_requests (
	name text not null,
	kind text not null check (kind in ('rebuild', 'retry')),
	primary key (name, kind)
);

-- +goose Up
-- The types of events that a set of tables was filled with; null = all, or a set from before this column. A set without a
-- reader for a while is dropped: unused_since says since when.
alter table {schema}.projection_versions
	add column types        text[],
	add column unused_since timestamptz;

-- Programs of two versions each build their own tables.
drop index {schema}.projection_versions_building;
create unique index projection_versions_building on {schema}.projection_versions (name, version)
	where state = 'building';

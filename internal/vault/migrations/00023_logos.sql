-- +goose Up
-- The pictures of organizations, each under the hash by which the organization's events name it. They are drawn on
-- documents; docs/rules/billing.md#logo
create table {schema}.logos (
	org_id uuid not null,
	digest text not null,
	png bytea not null,
	stored_at timestamptz not null,
	primary key (org_id, digest)
);

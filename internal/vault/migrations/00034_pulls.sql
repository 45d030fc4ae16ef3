-- +goose Up
-- How far the provider was asked for the payments of a shortcode; docs/rules/payments.md#sweeps
create table {schema}.pulls (
	ref uuid primary key, -- as of the shortcode's token
	registered boolean not null,
	asked_until timestamptz not null
);

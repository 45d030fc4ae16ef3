-- +goose Up
-- The phone with which a shortcode was registered for the list of its payments: with another one it is registered again.
alter table {schema}.pulls add column nominated uuid; -- reference of the organization's own; null = the platform's

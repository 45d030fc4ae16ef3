-- +goose Up
-- A held command was refused while its instance had stopped, so that nobody could take the refusal. It is executed again
-- when the instance goes on.
alter table {schema}.commands add column held boolean not null default false;

-- +goose Up
-- From where and with what a session was begun, for the person's own list; gone with the row. Sessions of before have ''.
alter table {schema}.sessions
	add column ip text not null default '',
	add column browser text not null default '';

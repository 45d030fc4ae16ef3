-- +goose Up
-- The sessions of a name are read from the newest on, and those next to an instant: a router that has one name for all
-- has many of it.
create index on {schema}.sessions (device_id, session_key, username, started_at);
drop index {schema}.sessions_device_id_session_key_username_idx;

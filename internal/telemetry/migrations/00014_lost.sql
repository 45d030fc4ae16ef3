-- +goose Up
-- The sessions that a router that is away has taken with it, for the number of its customers who are off.
create index on {schema}.sessions (device_id, ended_at) where end_reason = 'lost';

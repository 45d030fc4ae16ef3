-- +goose Up
-- When a router that is away has reported last, also about sessions that were closed since.
create index on {schema}.sessions (device_id, ended_at) where ended_at is not null;

-- +goose Up
-- stamp is the digest of all that the sign-in gave, as the router repeats it; '' = not known.
-- source is the address from which the router reports, which is where it takes requests; null = not known.
alter table {schema}.sessions add column source inet;
alter table {schema}.sessions add column stamp text not null default '';
create index on {schema}.sessions (subscriber_id) where ended_at is null and subscriber_id is not null;
create index on {schema}.sessions (device_id) where ended_at is null;

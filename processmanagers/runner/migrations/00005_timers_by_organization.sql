-- +goose Up
-- Due timers are taken from organizations in turn. With the organization in an index, a page of them costs the same
-- however many are due.
alter table {schema}.timers add column org text generated always as (coalesce(cause->>'orgId', '')) stored;
create index timers_by_org on {schema}.timers (process, org, due_at);

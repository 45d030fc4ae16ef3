-- +goose Up
-- Each event of an instance changes its position. With the position in an index, that wrote every index of the row anew
-- and never reused its place; the deletion of instances that have ended compares positions itself.
drop index {schema}.instances_ended;
create index instances_ended on {schema}.instances (process) where ended;
alter table {schema}.instances set (fillfactor = 75);

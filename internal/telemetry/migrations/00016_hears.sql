-- +goose Up
-- For how long the program has heard routers, when it told that; null = it is of a version that does not tell.
alter table {schema}.spools add column hears_for interval;

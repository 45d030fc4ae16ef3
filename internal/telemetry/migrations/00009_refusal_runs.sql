-- +goose Up
-- When the present run of refusals of a row began: a pause of some minutes begins another one, first_at stays that of
-- the day. Null = an earlier version wrote the row, and there is one run.
alter table {schema}.refusals add column run_at timestamptz;

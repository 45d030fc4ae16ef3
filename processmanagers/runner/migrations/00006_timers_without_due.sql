-- +goose Up
-- Every search goes through the organizations in timers_by_org, and each timer costs the more the more indexes there are.
drop index {schema}.timers_due;

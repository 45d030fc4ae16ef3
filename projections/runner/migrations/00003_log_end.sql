-- +goose Up
-- Where the log ended when it was found to end before the position of a set of tables; null = never. The log gives the
-- positions in between to other events, so such a set is never filled again: new tables replace it.
alter table {schema}.projection_versions add column log_end bigint;

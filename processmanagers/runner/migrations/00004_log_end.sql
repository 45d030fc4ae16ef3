-- +goose Up
-- Where the log ended when it was found to end before the checkpoint; null = never, or a person has asked to go on all
-- the same. The log gives the positions in between to other events, which the process would pass over.
alter table {schema}.processes add column log_end bigint;

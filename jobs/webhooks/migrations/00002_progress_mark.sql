-- +goose Up
-- The newest event of the log that was known when the progress was stored, by its position and id: the deliverer knows
-- its log again by it. Null = not known.
alter table {schema}.progress add column mark text;

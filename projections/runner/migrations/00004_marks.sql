-- +goose Up
-- The newest event of the log up to the position, by its position and id: a set of tables knows its log again by it.
-- Null = not known. log_end is also set when the log was found to have another event there, which is log_has.
alter table {schema}.projection_versions
	add column mark    text,
	add column log_has uuid;

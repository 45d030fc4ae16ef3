-- +goose Up
-- Callbacks that a program which stands by had on its disk, sealed, until the one that serves has them in its inbox.
-- docs/rules/engine.md#standing-by
create table {schema}.handed_callbacks (
	id     uuid  primary key,
	sealed bytea not null
);

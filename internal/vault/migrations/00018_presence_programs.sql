-- +goose Up
-- Each program that takes money, while it may have callbacks on its disk that nobody else knows of. A program that
-- stops with none there removes its row. All times here are those of the database's clock, and since this version
-- presence.beat_at is, too. docs/rules/access-dunning.md#no-fault-grace
create table {schema}.presence_programs (
	program    text primary key, -- the machine, and the program's place for callbacks on it
	beat_at    timestamptz not null,
	kept       bigint not null,
	kept_since timestamptz,      -- the first beat that told of them; null = none is there
	check ((kept = 0) = (kept_since is null))
);

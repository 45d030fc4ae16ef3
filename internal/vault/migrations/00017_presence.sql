-- +goose Up
-- When a program of the platform could take money last, by the machine's clock, and the time without any that is not
-- settled yet. One row. docs/rules/access-dunning.md#no-fault-grace
create table {schema}.presence (
	single     boolean primary key default true check (single),
	beat_at    timestamptz not null,
	away_from  timestamptz, -- equal to away_until: the log has it
	away_until timestamptz,
	check ((away_from is null) = (away_until is null))
);

-- +goose Up
-- Times in which no program of the platform could take money, until every organization's log has them. All times are
-- those of the database's clock. docs/rules/access-dunning.md#no-fault-grace
create table {schema}.absences (
	away_until timestamptz primary key,
	away_from  timestamptz not null check (away_from < away_until)
);
insert into {schema}.absences (away_until, away_from)
select away_until, away_from from {schema}.presence where away_from < away_until;
-- These two columns stay empty. They are there for programs of the version before this one, which give signs of life
-- until they are replaced.
update {schema}.presence set away_from = null, away_until = null;
-- A program that stopped with no callbacks on its disk. It is waited for all the same, because it may be back already
-- without its database. One that never served since then has only tried to start.
alter table {schema}.presence_programs add column stopped boolean not null default false,
	add column served_at timestamptz;
update {schema}.presence_programs set served_at = beat_at;

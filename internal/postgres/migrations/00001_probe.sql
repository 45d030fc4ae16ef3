-- +goose Up
-- One row that fills a page, so that writing it into an emptied table needs room on the disk. docs/operations.md#the-database-takes-no-writes
create table {schema}.write_probe (filler text not null);
alter table {schema}.write_probe alter column filler set storage plain;

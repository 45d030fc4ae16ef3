-- +goose Up
-- What subscriptions used, by day and by month of the organization's calendar.
create table {schema}.usage (
	org_id          uuid   not null,
	subscriber_id   uuid   not null,
	subscription_id uuid   not null,
	step            text   not null, -- day or month
	starts          date   not null, -- first day
	bytes_down      bigint not null,
	bytes_up        bigint not null,
	seconds         bigint not null,
	primary key (subscription_id, step, starts)
) with (fillfactor = 80);
create index on {schema}.usage (org_id, subscriber_id, step, starts);
create index on {schema}.usage (step, starts);

-- +goose Up
-- What each CPE said of itself last: operational, not derived from the log. Null = it has not said so.
create table {schema}.health (
	cpe_id         uuid primary key,
	at             timestamptz not null, -- when it said so
	uptime         bigint,               -- seconds
	memory_total   bigint,               -- bytes
	memory_free    bigint,               -- bytes
	cpu            bigint,               -- percent
	bytes_sent     bigint,
	bytes_received bigint,
	wifi_clients   bigint                -- of all networks
);

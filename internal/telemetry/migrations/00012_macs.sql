-- +goose Up
-- Sessions are searched by the beginning of a MAC, the newest of each device.
create index on {schema}.sessions (org_id, mac collate "C", started_at desc)
	where mac <> '' and not address_only;

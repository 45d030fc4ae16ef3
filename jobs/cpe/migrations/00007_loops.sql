-- +goose Up
-- CPEs on which a script of an organization alone kept a session from coming to rest: operational, not derived from the
-- log. A row goes when the CPE server has no such fault of the CPE any more.
create table {schema}.loops (
	channel text        not null, -- of the script: its name at the CPE server
	cpe_id  uuid        not null,
	version int         not null, -- of the script
	at      timestamptz not null, -- of the latest such session
	primary key (channel, cpe_id)
);

-- +goose Up
-- What routers report about their customers' sessions. All instants come from the program's clock, never from a router.

-- At most one session of a device, user name and calling station is open: the one that began last. The columns that an
-- interim report changes are in no index, so that it rewrites one row and nothing else.
create table {schema}.sessions (
	id              uuid primary key,
	org_id          uuid        not null,
	device_id       uuid        not null,
	session_key     text        not null, -- Acct-Session-Id; comes again after some restarts of the router
	username        text        not null,
	calling         text        not null, -- the MAC where there is one, else Calling-Station-Id
	mac             text        not null,
	called          text        not null,
	port            text        not null, -- NAS-Port-Id
	service         text        not null,
	ip              inet,
	subscriber_id   uuid,
	subscription_id uuid,
	access          text        not null, -- what the sign-in gave; '' = not known
	rate_down       bigint      not null, -- kbit/s, 0 = not known
	rate_up         bigint      not null,
	started_at      timestamptz not null,
	updated_at      timestamptz not null, -- instant of the newest report
	ended_at        timestamptz,          -- null = open
	ended_by        smallint    not null, -- 0 = open, 1 = the router said so, 2 = concluded by us
	end_reason      text        not null,
	bytes_down      bigint      not null, -- sent to the customer
	bytes_up        bigint      not null,
	seconds         bigint      not null,
	samples         bytea       not null, -- the newest reports, see window
	address_only    boolean     not null default false -- its retention is over except for who had its address
) with (fillfactor = 80);
create index on {schema}.sessions (device_id, session_key, username);
create index on {schema}.sessions (device_id, username, calling, started_at desc);
create index on {schema}.sessions (org_id, started_at desc, id desc);
create index on {schema}.sessions (org_id, subscriber_id, started_at desc, id desc) where subscriber_id is not null;
create index on {schema}.sessions (org_id, username, started_at desc, id desc);
create index on {schema}.sessions (org_id, device_id, started_at desc, id desc);
create index on {schema}.sessions (org_id, ip, started_at desc, id desc) where ip is not null;
create index on {schema}.sessions (org_id, started_at desc, id desc) where ended_at is null;
create index on {schema}.sessions (ended_at) where ended_at is not null;
create index on {schema}.sessions (ended_at) where ended_at is not null and not address_only;
create index on {schema}.sessions (ended_at) where ended_at is not null and ip is not null;

-- When a router told last that it has begun or ends to account: what it had until then is over.
create table {schema}.routers (
	device_id    uuid primary key,
	org_id       uuid        not null,
	restarted_at timestamptz not null
);

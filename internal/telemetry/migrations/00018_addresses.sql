-- +goose Up
-- Which addresses a session had from when until when. A session that goes away takes its addresses along.
create table {schema}.addresses (
	session_id uuid     not null references {schema}.sessions (id) on delete cascade,
	org_id     uuid     not null,
	kind       smallint not null, -- 1 = IPv4, 2 = IPv6, 3 = prefix of the link, 4 = prefix for the customer's networks
	address    cidr     not null, -- a single address with all its bits
	from_at    timestamptz,       -- null = from the start of the session
	until_at   timestamptz        -- null = until its end
);
create index on {schema}.addresses (org_id, address);
create index on {schema}.addresses (session_id);
alter table {schema}.sessions
	add column ipv6 inet,                     -- of the customer on the link, IPv6
	add column held text not null default ''; -- the rows of addresses in short
insert into {schema}.addresses (session_id, org_id, kind, address)
	select id, org_id, 1, ip::cidr from {schema}.sessions where ip is not null
	union all select id, org_id, 3, framed_prefix from {schema}.sessions where framed_prefix is not null
	union all select id, org_id, 4, delegated_prefix from {schema}.sessions where delegated_prefix is not null;
update {schema}.sessions s set held = (select string_agg(format(E'%sr %s %s\n', a.kind,
		host(a.address) || '/' || masklen(a.address), extract(epoch from s.started_at)::bigint), '' order by a.kind)
	from {schema}.addresses a where a.session_id = s.id)
	where exists (select from {schema}.addresses a where a.session_id = s.id);
create index on {schema}.sessions (ended_at) where ended_at is not null and held <> '';
-- The questions that these were for go by the table of addresses now.
drop index {schema}.sessions_org_id_ip_started_at_id_idx;
drop index {schema}.sessions_org_id_framed_prefix_started_at_id_idx;
drop index {schema}.sessions_org_id_delegated_prefix_started_at_id_idx;
drop index {schema}.sessions_ended_at_idx2;

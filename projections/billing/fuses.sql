-- What stops cuts or messages of an organization.
create table {schema}.fuses (
  fuse_id uuid primary key,
  org_id uuid not null,
  kind text not null, -- cuts, messages
  held boolean not null,
  date date not null, -- of the newest hold, in the organization's zone
  count integer not null,
  usual integer not null,
  held_at timestamptz not null,
  released_at timestamptz,
  released_by uuid,
  release_reason text not null default ''
);
create index fuses_org on {schema}.fuses (org_id, held_at desc);

-- Each cut, and each message that was sent: what is usual on a day follows from them.
create table {schema}.happened (
  event_id uuid primary key,
  org_id uuid not null,
  kind text not null,
  at timestamptz not null
);
create index happened_days on {schema}.happened (org_id, kind, at);

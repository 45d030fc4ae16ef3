-- One row for each outage of the network.
create table {schema}.outages (
  outage_id uuid primary key,
  org_id uuid not null,
  device_id uuid, -- the root; null = not of a router
  service_id uuid,
  tag text not null default '',
  devices uuid[] not null default '{}', -- all that were down in it
  downs jsonb not null default '[]', -- when those were down that were not in all of it
  title text not null,
  message text not null,
  detected boolean not null,
  started_at timestamptz not null,
  expected_end timestamptz,
  ended_at timestamptz, -- null = it lasts
  merged_into uuid,
  tell_after timestamptz, -- null = customers are not told
  begun_by uuid, -- the user who said so; null = nobody
  revision bigint not null
);
create index outages_newest on {schema}.outages (org_id, started_at desc, outage_id desc);
create index outages_lasting on {schema}.outages (org_id) where ended_at is null;
-- What an organization wants about outages; without a row it has never chosen.
create table {schema}.rules (
  org_id uuid primary key,
  rules jsonb not null,
  revision bigint not null
);

-- The history of services and routers, one row for each event: changes, drift, repairs, errors and writes.
create table {schema}.entries (
  position bigint primary key,
  org_id uuid not null,
  device_id uuid not null,
  service_id uuid,
  at timestamptz not null,
  kind text not null,
  summary text not null,
  facts jsonb not null,
  detail jsonb not null,
  actor_kind text not null,
  actor_id text not null
);
create index entries_of_service on {schema}.entries (service_id, position desc) where service_id is not null;
create index entries_of_device on {schema}.entries (device_id, position desc);
create index entries_felt on {schema}.entries (device_id, at)
  where kind in ('unreachable', 'recovered', 'reboot_confirmed', 'repaired');

-- The ends of runs over a whole router.
create table {schema}.runs (
  run_id uuid primary key,
  org_id uuid not null,
  device_id uuid not null,
  kind text not null,
  outcome text not null,
  writes int not null,
  message text not null,
  at timestamptz not null
);

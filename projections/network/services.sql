-- One row for each service, kept after it is removed.
create table {schema}.services (
  service_id uuid primary key,
  org_id uuid not null,
  device_id uuid not null,
  binding jsonb not null, -- as desired, not as applied
  addressing jsonb not null,
  walled_garden jsonb not null,
  state text not null,           -- pending, active, failed, degraded
  open text not null, -- requested work that is not done: apply, teardown or removal; '' = none
  generation int not null, -- counts desired states from 1
  applied_generation int not null default 0,
  last_error jsonb, -- null: no error since the last success
  former jsonb not null default '[]', -- subnets that the service has no more and devices may still use
  drift jsonb, -- the present difference; null = none
  outcome_position bigint not null default 0, -- of the newest event that ended work; requests that wait compare it
  applied_at timestamptz, -- null: the router was never brought in line, or the service was torn down since
  created_at timestamptz not null,
  removed_at timestamptz,
  revision bigint not null,
  position bigint not null
);
create index services_of_device on {schema}.services (device_id, created_at, service_id) where removed_at is null;
create index services_of_organization on {schema}.services (org_id, created_at desc) where removed_at is null;

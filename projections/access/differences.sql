-- What the auditor sees at present: one row for each open difference.
create table {schema}.differences (
  difference_id uuid primary key,
  org_id uuid not null,
  device_id uuid not null, -- the router
  subscriber_id uuid, -- null = not known
  subscription_id uuid, -- null = not known
  kind text not null,
  expected text not null,
  actual text not null,
  walled boolean not null, -- the router has the session's address in the walled garden
  since timestamptz not null
);
create index differences_newest on {schema}.differences (org_id, since desc, difference_id desc);
create index differences_device on {schema}.differences (device_id);
create index differences_subscriber on {schema}.differences (subscriber_id);
-- Routers that were decommissioned: nobody looks at them any more, so what is told about them later would stay for ever.
create table {schema}.gone_routers (
  device_id uuid primary key
);

-- One row for each deployment of firmware.
create table {schema}.campaigns (
  campaign_id uuid primary key,
  org_id uuid not null,
  firmware_id uuid not null,
  filename text not null,
  version text not null,
  model text not null,
  state text not null,
  matched int not null,
  terms jsonb not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  succeeded_before int not null default 0, -- when a person let it continue
  failed_before int not null default 0, -- the same
  actor_kind text not null,
  actor_id text not null,
  revision bigint not null
);
create index campaigns_newest on {schema}.campaigns (org_id, started_at desc, campaign_id desc);
-- One row for each device of the model of a campaign.
create table {schema}.devices (
  campaign_id uuid not null,
  cpe_id uuid not null,
  org_id uuid not null,
  state text not null,
  reason text, -- of a skip, or the code of the failure
  released boolean not null default false, -- while it waited, or had the file on its way
  operation_id uuid, -- the newest one
  tries int not null default 0,
  tried_at timestamptz,
  primary key (campaign_id, cpe_id)
);
create index devices_by_state on {schema}.devices (campaign_id, state, cpe_id);
create index devices_of_operation on {schema}.devices (operation_id) where operation_id is not null;
create index devices_active on {schema}.devices (cpe_id) where state in ('pending', 'sent');

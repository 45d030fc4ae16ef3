-- One row for each router, kept after it is decommissioned. Columns that end in _ref refer to secrets in the vault.
create table {schema}.devices (
  device_id uuid primary key,
  org_id uuid not null,
  details jsonb not null,
  tunnel_address text not null,
  tunnel_user text not null,
  api_ref uuid,
  radius_ref uuid,
  tunnel_ref uuid,
  report_ref uuid,
  transport jsonb, -- null: protocol and port are not known yet
  transport_at timestamptz,
  unreachable_since timestamptz, -- null: reachable, or never called
  unreachable_error text not null default '',
  bootstrap_version int not null default 0, -- 0: none reported yet
  bootstrap_at timestamptz,
  rotated boolean not null default false, -- the tunnel's password was replaced after the newest report of a script
  radius_given uuid, -- reference of the RADIUS secret that the router was given last; null = not known
  setup_drift jsonb, -- the present difference of the setup; null = none
  drift_unchecked jsonb, -- since when, and why, it could not be compared; null = compared, or never tried
  upstream_id uuid, -- the router behind which it stands; null = none
  reboot jsonb,                   -- the newest one
  created_at timestamptz not null,
  removed_at timestamptz,
  revision bigint not null,       -- of the stream, in its present period
  position bigint not null -- of the newest event applied
);
create index devices_newest on {schema}.devices (org_id, created_at desc, device_id desc) where removed_at is null;
create index devices_tunnel on {schema}.devices (tunnel_address) where removed_at is null;

-- The endpoints of organizations' own systems.
create table {schema}.endpoints (
  webhook_id uuid primary key,
  org_id uuid not null,
  url text not null,
  types text[] not null,
  description text not null,
  state text not null,         -- 'enabled', 'disabled' or 'removed'
  enabled_at timestamptz,      -- null = it is disabled
  enabled_position bigint not null, -- of the event that enabled it last
  disabled_reason text not null default '',
  failing_since timestamptz,   -- of one that was disabled because it failed
  failed int not null default 0,
  state_at timestamptz not null,
  secret_ref uuid not null,
  former_ref uuid,
  former_until timestamptz,    -- until then the former secret signs, too
  created_at timestamptz not null,
  revision bigint not null,
  position bigint not null     -- of the newest event
);
create index endpoints_newest on {schema}.endpoints (org_id, created_at desc, webhook_id desc);

-- Which types each endpoint gets, by the positions of the log: a message belongs to the row around its position.
create table {schema}.terms (
  webhook_id uuid not null,
  after bigint not null,
  org_id uuid not null,
  until bigint,                -- null = it still holds
  types text[] not null,
  primary key (webhook_id, after)
);
create index terms_end on {schema}.terms (until);

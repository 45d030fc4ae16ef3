create table {schema}.subscriptions (
  subscription_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  plan_id uuid not null,
  plan_version integer not null,
  terms jsonb not null,
  state text not null,
  reason text not null default '',
  starts_at timestamptz not null,
  activated_at timestamptz,
  paid_until timestamptz,
  username text,
  open_invoices uuid[] not null default '{}', -- oldest first
  created_at timestamptz not null,
  state_since timestamptz not null,
  revision bigint not null
);
create index subscriptions_newest on {schema}.subscriptions (org_id, created_at desc, subscription_id desc);
create index subscriptions_subscriber on {schema}.subscriptions (org_id, subscriber_id, created_at desc, subscription_id desc);

-- Administrative blocks. A blocked subscriber has no access, even when everything is paid.
create table {schema}.blocks (
  subscriber_id uuid primary key,
  org_id uuid not null,
  reason text not null,
  event_id uuid not null,
  since timestamptz not null
);

-- One row for each compensation.
create table {schema}.compensations (
  compensation_id uuid primary key,
  org_id uuid not null,
  device_id uuid,
  service_id uuid,
  tag text not null,
  outage_id uuid,
  from_at timestamptz not null,
  to_at timestamptz not null,
  give jsonb not null,
  reason text not null,
  subscriptions int not null,
  parts int not null,
  parts_done int[] not null default '{}',
  given int not null default 0,
  refused int not null default 0,
  previewed_at timestamptz not null,
  previewed_by uuid,
  applied_at timestamptz, -- null = it is a preview
  applied_by uuid,
  finished_at timestamptz,
  revision bigint not null
);
create index compensations_newest on {schema}.compensations (org_id, previewed_at desc, compensation_id desc);
-- One row for each subscription of a compensation.
create table {schema}.items (
  compensation_id uuid not null,
  number int not null, -- its place in the preview
  org_id uuid not null,
  subscription_id uuid not null,
  subscriber_id uuid not null,
  days int not null,
  amount_minor bigint not null,
  currency text not null,
  code text not null, -- why it gets nothing; '' = it gets something
  given boolean not null default false,
  foreseen boolean not null, -- the preview said already that it gets nothing
  primary key (compensation_id, number)
);
create index items_subscription on {schema}.items (compensation_id, subscription_id);
-- The credit notes by which a compensation gives money: an account decides how much is left to give.
create table {schema}.notes (
  credit_note_id uuid primary key,
  org_id uuid not null,
  compensation_id uuid not null,
  subscription_id uuid not null,
  amount_minor bigint not null default 0 -- 0 = not drafted
);
create index notes_subscription on {schema}.notes (compensation_id, subscription_id);

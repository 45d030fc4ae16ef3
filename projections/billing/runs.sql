create table {schema}.runs (
  run_id uuid primary key,
  org_id uuid not null,
  date date not null, -- in the organization's zone
  state text not null,
  due integer, -- null before it was counted
  usual integer,
  failed integer not null default 0,
  failures jsonb not null default '[]',
  requested_at timestamptz not null,
  requested_by uuid, -- a member of staff; null = the clock
  held_at timestamptz,
  released_at timestamptz,
  released_by uuid,
  release_reason text not null default '',
  finished_at timestamptz
);
create index runs_newest on {schema}.runs (org_id, date desc);

-- The invoices that a run made, beside the one before of the same subscription.
create table {schema}.made (
  run_id uuid not null,
  invoice_id uuid primary key,
  org_id uuid not null,
  subscription_id uuid not null,
  subscriber_id uuid not null,
  made_at timestamptz not null,
  total_minor bigint, -- null before it was drafted
  currency text not null default '',
  before_minor bigint, -- null = there was none
  undone boolean not null default false, -- it was taken back with the run
  off_minor bigint generated always as (abs(total_minor - coalesce(before_minor, 0))) stored
);
create index made_deviation on {schema}.made (run_id, (coalesce(off_minor, -1)) desc, invoice_id);

-- The newest invoice for a period of each subscription.
create table {schema}.latest (
  subscription_id uuid primary key,
  org_id uuid not null,
  invoice_id uuid not null,
  total_minor bigint not null
);

create table {schema}.subscriptions (
  subscription_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  plan_id uuid not null,
  plan_version integer not null,
  terms jsonb not null,
  planned jsonb, -- the change to another plan that comes with a later period, as PlannedPlan; null = none
  next_terms jsonb, -- of the next period as an undo, or a period made again, told them; null = as planned, or as terms
  state text not null,
  reason text not null default '',
  starts_at timestamptz not null,
  activated_at timestamptz,
  carried boolean not null default false, -- it was active in another system before
  undone boolean not null default false, -- its customer was removed with the import that had made both
  paid_until timestamptz,
  retakes_from timestamptz, -- where the next period begins in the place of one that an undo took back; null = no place
  paid_told_at timestamptz, -- when the event was recorded that told paid_until; null before the first
  paid_told_event uuid,
  paid_lost_at timestamptz, -- as LostAt in projections/access/entitlement; null = never
  username text,
  username_key text, -- as internal/loginname folds it
  username_term text, -- as it is searched for
  password_ref uuid, -- the password itself is in the vault
  static_ip text,
  static_ipv6_prefix text,
  routes text[] not null default '{}', -- networks behind the customer's address
  mac_addresses text[] not null default '{}', -- the only equipment that may sign in; empty = any
  open_invoices uuid[] not null default '{}', -- oldest first
  created_at timestamptz not null,
  state_since timestamptz not null,
  unbilled_since timestamptz, -- cut off since then and not billed for that; null = billed as usual
  state_event uuid, -- that told the state paused or ended; null in the others
  revision bigint not null
);
create index subscriptions_newest on {schema}.subscriptions (org_id, created_at desc, subscription_id desc);
create index subscriptions_subscriber on {schema}.subscriptions (org_id, subscriber_id, created_at desc, subscription_id desc);
create index subscriptions_plan on {schema}.subscriptions (org_id, plan_id, plan_version, subscriber_id) where state <> 'ended';
create index subscriptions_state on {schema}.subscriptions (org_id, state, created_at desc, subscription_id desc);

-- One row for each search term of a subscription: its username in lower case (or as a MAC address), the MAC addresses of its equipment, its
-- static address, its static prefix and its routes. Terms are used as those of subscribers are.
create table {schema}.terms (
  org_id uuid not null,
  term text collate "C" not null,
  subscription_id uuid not null,
  primary key (org_id, term, subscription_id)
);
create index terms_subscription on {schema}.terms (subscription_id);

-- What became of each period, and where it lies. An invoice names at most one period.
create table {schema}.subscription_periods (
  subscription_id uuid not null,
  invoice_id uuid not null,
  org_id uuid not null,
  ordinal integer not null,
  state text not null, -- due, paid, withdrawn, cancelled
  due_at timestamptz,
  paid_at timestamptz, -- the latest payment
  from_at timestamptz, -- null while the period takes no time
  to_at timestamptz, -- exclusive
  primary key (subscription_id, invoice_id)
);
create index subscription_periods_newest on {schema}.subscription_periods (org_id, subscription_id, ordinal desc);

-- What invoices have beside the price of the plan: charges, add-ons and discounts.
create table {schema}.extras (
  subscription_id uuid not null,
  extra_id uuid not null,
  org_id uuid not null,
  extra jsonb not null, -- events.Extra
  description text not null,
  ordinals integer[] not null default '{}', -- of the newest periods that have it
  before integer not null default 0, -- how many older ones have it
  final boolean not null default false, -- it is on the invoice of the subscription's end
  added_at timestamptz not null,
  removed_at timestamptz, -- null: later periods may have it
  primary key (subscription_id, extra_id)
);
create index extras_added on {schema}.extras (org_id, subscription_id, added_at, extra_id);

-- Administrative blocks. A blocked subscriber has no access, even when everything is paid.
create table {schema}.blocks (
  subscriber_id uuid primary key,
  org_id uuid not null,
  reason text not null,
  event_id uuid not null,
  since timestamptz not null
);

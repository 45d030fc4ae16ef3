-- How far each subscription is in the present period of its cap. One that never reached anything has no row.
create table {schema}.usage (
  subscription_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  first_session_at timestamptz, -- null = not known
  period text not null default '', -- '' = nothing was counted yet; may be over
  starts date,
  resets_at timestamptz,
  warned_at timestamptz, -- in the period
  reached_at timestamptz, -- null = not reached in the period, or reset since
  reached_event uuid,
  reached_then text not null default '', -- what the plan did when the cap was reached
  revision bigint not null default 0
);
create index usage_org on {schema}.usage (org_id, subscriber_id);

-- Traffic that was added or ordered. What was added to a period that is over stays here as history.
create table {schema}.top_ups (
  top_up_id uuid primary key,
  org_id uuid not null,
  subscription_id uuid not null,
  subscriber_id uuid not null,
  bytes bigint not null,
  period text not null,
  starts date not null,
  resets_at timestamptz not null,
  reason text not null, -- '' = none, or the subscriber was forgotten
  price_minor bigint not null, -- 0 = it costs nothing
  currency text not null, -- '' = no price
  invoice_id uuid, -- null = no price
  actor_kind text not null,
  actor_id text not null,
  at timestamptz not null, -- when it was ordered, or added without an order
  added_at timestamptz, -- null = it was ordered and is not paid
  dropped_at timestamptz -- of an order whose invoice nobody has to pay any more; null = none
);
create index top_ups_invoice on {schema}.top_ups (invoice_id) where invoice_id is not null;
create index top_ups_newest on {schema}.top_ups (org_id, subscription_id, at desc, top_up_id desc);
create index top_ups_subscriber on {schema}.top_ups (subscriber_id);

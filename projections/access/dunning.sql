-- Where each subscription stands that ever owed anything or had a hold.
create table {schema}.dunning (
  subscription_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  state text not null default 'none',
  since timestamptz not null,
  event_id uuid, -- that recorded the state; null in the state none
  cut_since timestamptz, -- when the suspension began, in the state written_off; null in others
  cut_event uuid, -- that recorded this suspension
  due_at timestamptz, -- of the present course; null = none
  paid_until timestamptz, -- null = postpaid, or not in service
  debts jsonb not null default '[]', -- unpaid invoices, the oldest due date first
  next_state text not null default '', -- '' = nothing comes by itself
  next_at timestamptz,
  hold_from timestamptz, -- null = no hold
  hold_until timestamptz,
  hold_reason text not null default '',
  revision bigint not null default 0
);
create index dunning_newest on {schema}.dunning (org_id, since desc, subscription_id desc);
-- The board is of the few that are in dunning.
create index dunning_state on {schema}.dunning (org_id, state, since desc, subscription_id desc) where state <> 'none';

create index dunning_subscriber on {schema}.dunning (subscriber_id);

-- What each subscription owed from an instant on, for running a policy against the past.
create table {schema}.owed (
  subscription_id uuid not null,
  at timestamptz not null,
  org_id uuid not null,
  paid_until timestamptz, -- null = postpaid, or not in service
  debts jsonb not null,
  position bigint not null, -- of the event in the log
  primary key (subscription_id, at)
);
create index owed_org on {schema}.owed (org_id, subscription_id, position);

-- When the clock stood still, by a hold or by a cause.
create table {schema}.pauses (
  subscription_id uuid not null,
  cause text not null, -- '' = a hold
  from_at timestamptz not null,
  org_id uuid not null,
  until_at timestamptz, -- null = it has not ended
  primary key (subscription_id, cause, from_at)
);
create index pauses_org on {schema}.pauses (org_id, subscription_id);

create index pauses_open on {schema}.pauses (org_id, from_at) where until_at is null;

-- The subscriptions that end with their paid time (PlanTerms.EndsWithPaidTime): no fault stops their clock.
create table {schema}.short (
  subscription_id uuid primary key,
  org_id uuid not null
);

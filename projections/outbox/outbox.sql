-- Integration events in the order of the log, ready for delivery.
create table {schema}.messages (
  position bigint not null, -- of the event that the message reports
  ordinal int not null,      -- among the messages of one event
  message_id uuid not null,
  org_id uuid not null,
  type text not null,
  at timestamptz not null,
  payload jsonb not null,    -- the data of the envelope (docs/rules/webhooks.md#envelope)
  primary key (position, ordinal),
  unique (message_id)
);
create index messages_of_organization on {schema}.messages (org_id, position, ordinal);

-- Prompts that have not ended: their ends do not say what was asked for.
create table {schema}.attempts (
  payment_id uuid primary key,
  org_id uuid not null,
  payload jsonb not null -- the data of payment.succeeded
);

-- Subscriptions that have not ended, and what keeps their service from being active.
create table {schema}.services (
  subscription_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  plan_id uuid not null,
  paid_until text,                            -- RFC 3339 in UTC, as the message has it; null = no paid time
  begun boolean not null default false,       -- it has been activated
  announced boolean not null default false,   -- its first activation was published, or is no news
  restricted boolean not null default false,  -- by dunning: walled garden or suspended
  paused boolean not null default false
);

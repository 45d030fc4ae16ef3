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

-- Subscriptions whose service has not begun.
create table {schema}.starting (
  subscription_id uuid primary key,
  org_id uuid not null,
  payload jsonb not null, -- the data of subscription.activated, without the end of paid time
  begun boolean not null default false -- the next event has that
);

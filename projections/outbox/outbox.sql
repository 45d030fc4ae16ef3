-- Integration events in the order of the log, ready for delivery.
create table {schema}.messages (
  position bigint not null, -- of the event that the message reports
  ordinal int not null,      -- among the messages of one event
  message_id uuid not null,
  org_id uuid not null,
  type text not null,
  at timestamptz not null,
  payload jsonb not null,    -- the data of the envelope (docs/rules/webhooks.md#envelope)
  primary key (position, ordinal)
);
create index messages_of_organization on {schema}.messages (org_id, position, ordinal);

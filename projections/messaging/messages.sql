-- Every message to a customer that was asked for.
create table {schema}.messages (
  message_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  subscription_id uuid,
  at timestamptz not null, -- when it was asked for
  template text not null,
  channel text, -- null = it has no address yet
  address text, -- null = it has none yet, or the person was forgotten
  state text not null,
  code text not null default '', -- why it was not sent, or not delivered
  back text, -- why it took the way back from WhatsApp; null = it did not
  reference text, -- under which the provider reports about it; null = it does not
  cost text, -- in the provider's words; null = not known
  state_at timestamptz not null,
  outage_id uuid -- that it tells of; null = none
);
create index messages_newest on {schema}.messages (org_id, at desc, message_id desc);
create index messages_subscriber on {schema}.messages (org_id, subscriber_id, at desc, message_id desc);
create index messages_outage on {schema}.messages (org_id, outage_id, at desc, message_id desc)
  where outage_id is not null;
create index messages_forget on {schema}.messages (subscriber_id);
create index messages_reference on {schema}.messages (reference) where reference is not null;

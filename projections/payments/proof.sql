-- Whose a receipt is, so that the steps of an account are shown with it.
create table {schema}.proof_receipts (
  receipt_id uuid primary key,
  org_id uuid, -- null while the money has no owner
  shortcode text not null,
  related_id uuid -- the other of a provisional and its real receipt
);
create index proof_receipts_related on {schema}.proof_receipts (related_id) where related_id is not null;

-- One row for each event of the way of a receipt's money. What an event does not say is '' or null.
create table {schema}.proof_steps (
  position bigint primary key,
  receipt_id uuid not null,
  org_id uuid, -- as the receipt's
  event_id uuid not null,
  kind text not null,
  at timestamptz not null,
  actor_kind text not null,
  actor_id text not null,
  message_id uuid, -- the callback in the inbox from which the event came, or that made us ask
  sighting text not null,
  rule text not null, -- by which the payer was found
  reason text, -- personal, but for the codes of money in suspense
  subscriber_id uuid,
  from_id uuid, -- the subscriber whose account had the money before
  invoice_id uuid,
  payment_id uuid,
  related_id uuid, -- another receipt
  refund_id uuid,
  amount_minor bigint,
  shortcode text not null,
  credit boolean not null, -- the money was credit before, or is credit now
  erased boolean not null default false -- a person was forgotten: the message and the reason are not shown any more
);
create index proof_steps_receipt on {schema}.proof_steps (receipt_id, position);
create index proof_steps_subscriber on {schema}.proof_steps (subscriber_id) where subscriber_id is not null;
create index proof_steps_from on {schema}.proof_steps (from_id) where from_id is not null;

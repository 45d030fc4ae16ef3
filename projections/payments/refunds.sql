create table {schema}.refunds (
  refund_id uuid primary key,
  org_id uuid not null,
  receipt_id uuid not null,
  receipt_number text not null,
  subscriber_id uuid, -- null: the money was in suspense
  amount_minor bigint not null,
  currency text not null,
  method text not null,
  state text not null,
  secured boolean not null default false, -- the money waits for it
  reason text not null, -- personal, like settled_reason
  requested_at timestamptz not null,
  requested_by uuid, -- a member of staff; so are the other two
  approved_at timestamptz,
  approved_by uuid,
  submitted_at timestamptz, -- when the provider was asked
  settled_at timestamptz,
  settled_by uuid,
  reference text not null default '',
  failure text not null default '',
  message text not null default '', -- the provider's words
  settled_reason text not null default '',
  revision bigint not null
);
create index refunds_newest on {schema}.refunds (org_id, requested_at desc, refund_id desc);
create index refunds_state on {schema}.refunds (org_id, state, requested_at desc, refund_id desc);
create index refunds_subscriber on {schema}.refunds (subscriber_id, requested_at desc, refund_id desc)
  where subscriber_id is not null;
create index refunds_receipt on {schema}.refunds (receipt_id);
create index refunds_open on {schema}.refunds (state) where state not in ('completed', 'failed');

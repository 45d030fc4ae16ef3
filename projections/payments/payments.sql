create table {schema}.payments (
  payment_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  invoice_id uuid,
  gateway text not null,
  amount_minor bigint not null,
  currency text not null,
  phone text,
  direct boolean not null default false,
  environment text not null default '',
  shortcode text not null default '',
  credentials_ref uuid,
  account_reference text not null default '',
  reference_key text not null default '', -- the reference in capitals, as typed references are compared with it
  stage text not null,
  merchant_request_id text,
  checkout_request_id text,
  customer_message text,
  receipt_id uuid,
  receipt_number text,
  provisional boolean not null default false,
  code text not null default '',
  message text not null default '',
  told_by text not null default '',
  checks int not null default 0,
  checked_at timestamptz,
  initiated_at timestamptz not null,
  expires_at timestamptz,
  settled_at timestamptz,
  revision bigint not null
);

-- Where a person moved the money of a receipt, or that it was taken back. A prompt may succeed before or after that.
create table {schema}.moved (
  receipt_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid -- whose account has the money; null = it was taken back
);

create index payments_newest on {schema}.payments (org_id, initiated_at desc, payment_id desc);
create index payments_subscriber on {schema}.payments (org_id, subscriber_id, initiated_at desc, payment_id desc);
create index payments_checkout on {schema}.payments (checkout_request_id) where checkout_request_id is not null;
create index payments_reference on {schema}.payments (reference_key, initiated_at desc) where reference_key <> '';
create index payments_open on {schema}.payments (expires_at) where stage in ('created', 'sent', 'awaiting', 'in_doubt');
create index payments_receipt on {schema}.payments (receipt_id) where receipt_id is not null;
create index payments_forget on {schema}.payments (subscriber_id);

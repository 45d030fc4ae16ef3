create table {schema}.payments (
  payment_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null, -- who was asked, or who brought the cash
  held_by uuid not null, -- whose account has the money, or had it last; the same one until a person moves it
  taken_back boolean not null default false,
  refused boolean not null default false, -- its account did not take the money, which waits in suspense
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
  -- as typed numbers are compared with it
  number_key text generated always as (upper(regexp_replace(receipt_number, '\s+', ' ', 'g'))) stored,
  provisional boolean not null default false,
  code text not null default '',
  message text not null default '', -- personal when the money was taken back: the reason
  told_by text not null default '',
  checks int not null default 0,
  checked_at timestamptz,
  initiated_at timestamptz not null,
  expires_at timestamptz,
  settled_at timestamptz,
  asked_by uuid, -- the member of staff who had the phone asked, or took the cash; null = a customer, or the program
  revision bigint not null
);

-- Where the money of a receipt was put or moved to beside its prompt, or that it was taken back. A prompt may succeed
-- before or after that.
create table {schema}.moved (
  receipt_id uuid primary key,
  org_id uuid not null,
  held_by uuid, -- to whose account it was moved last; null = it is where it came first
  taken_back boolean not null default false,
  taken_from uuid, -- whose account had it when it was taken back; null = nobody's
  refused boolean not null default false, -- the account did not take it
  reason text not null default '' -- personal: why it was taken back
);

create index payments_newest on {schema}.payments (org_id, initiated_at desc, payment_id desc);
create index payments_subscriber on {schema}.payments (org_id, held_by, initiated_at desc, payment_id desc);
create index payments_checkout on {schema}.payments (checkout_request_id) where checkout_request_id is not null;
create index payments_reference on {schema}.payments (reference_key, initiated_at desc) where reference_key <> '';
create index payments_open on {schema}.payments (expires_at) where stage in ('created', 'sent', 'awaiting', 'in_doubt');
create index payments_receipt on {schema}.payments (receipt_id) where receipt_id is not null;
create index payments_forget on {schema}.payments (subscriber_id);
create index payments_forget_held on {schema}.payments (held_by);
create index moved_forget_from on {schema}.moved (taken_from) where reason <> '';
create index moved_forget_held on {schema}.moved (held_by) where reason <> '';
create index payments_number on {schema}.payments (org_id, number_key) where number_key is not null;

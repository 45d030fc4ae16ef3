-- org_id is null while the money has no owner: then only the platform sees it
-- (docs/rules/money.md#money-without-an-owner).
create table {schema}.receipts (
  receipt_id uuid primary key,
  org_id uuid,
  provider text not null,
  environment text not null,
  receipt_number text not null,
  -- as typed numbers are compared with it, byte by byte, so that its beginning can be looked up
  number_key text collate "C" generated always as (upper(regexp_replace(receipt_number, '\s+', ' ', 'g'))) stored,
  channel text not null,
  shortcode text not null,
  amount_minor bigint not null,
  currency text not null,
  paid_at timestamptz not null,
  payer_phone text,
  payer_name text,
  bill_ref text,
  invoice_number text,
  third_party_trans_id text not null,
  org_account_balance text not null,
  contradicts uuid,
  checkout_request_id text,
  payment_id uuid,
  provisional boolean not null,
  state text not null,
  reason text not null default '', -- personal, but for the codes of money in suspense
  reason_of uuid, -- from whose account it was moved away, or whose account refused it: the reason is about them, too
  assigned boolean not null default false, -- the platform gave it to its organization
  disputed boolean not null default false,
  unclaimed boolean not null default false,
  subscriber_id uuid,
  matched_by text not null default '',
  related_receipt_id uuid,
  refunded_minor bigint not null default 0, -- what went back to the payer
  moved_at timestamptz, -- when it came to where it is: to an account, into suspense, or away
  credited_to uuid, -- the subscriber whose account has it
  cash_kind text, -- of cash: "cash", "cheque", "bank_transfer", "card", "other"
  received_on date, -- of cash: the local day
  taken_by uuid, -- of cash: the member of staff who took it
  sightings jsonb not null,
  moves jsonb not null default '[]', -- from account to account, the oldest first; see Move
  recorded_at timestamptz not null,
  revision bigint not null
);
create index receipts_payer on {schema}.receipts (payer_phone, org_id, paid_at desc)
  where payer_phone is not null and subscriber_id is not null;
create index receipts_newest on {schema}.receipts (org_id, recorded_at desc, receipt_id desc);
create index receipts_state on {schema}.receipts (org_id, state, recorded_at desc, receipt_id desc);
create index receipts_subscriber on {schema}.receipts (org_id, subscriber_id, recorded_at desc, receipt_id desc);
create index receipts_channel on {schema}.receipts (org_id, channel, recorded_at desc, receipt_id desc);
create index receipts_taker on {schema}.receipts (org_id, taken_by, recorded_at desc, receipt_id desc)
  where taken_by is not null;
create index receipts_number on {schema}.receipts (org_id, number_key);
create index receipts_suspense on {schema}.receipts (recorded_at desc, receipt_id desc) where org_id is null;
create index receipts_attention on {schema}.receipts (receipt_id) where state = 'suspense' or disputed or unclaimed;
create index receipts_unclaimed on {schema}.receipts (org_id, recorded_at desc, receipt_id desc) where unclaimed;
create index receipts_provisional on {schema}.receipts (receipt_id) where provisional and related_receipt_id is null;
create index receipts_till on {schema}.receipts (shortcode, paid_at, receipt_id)
  where provider = 'mobile_money' and receipt_number <> '';
create index receipts_related on {schema}.receipts (related_receipt_id) where related_receipt_id is not null;
create index receipts_unplaced on {schema}.receipts (receipt_id)
  where state = 'recorded' or credited_to is distinct from
    case when state in ('reversed', 'absorbed') then null else subscriber_id end;
create index receipts_forget_reason on {schema}.receipts (reason_of) where reason_of is not null;
create index receipts_forget on {schema}.receipts (subscriber_id) where subscriber_id is not null;

-- The money of a receipt that pays an invoice; negative when it was taken back. One row for each event.
create table {schema}.allocations (
  org_id uuid not null,
  position bigint primary key,
  receipt_id uuid not null,
  invoice_id uuid not null,
  loss boolean not null default false, -- the invoice is written off: the money recovers its loss
  amount_minor bigint not null
);
create index allocations_receipt on {schema}.allocations (receipt_id);

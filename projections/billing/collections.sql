-- One row for each receipt that was credited to an account, one with a negative amount for each time that money of it was
-- taken off again or set aside for a refund, and one for each voucher that was redeemed. Amounts are minor units of the organization's currency.
create table {schema}.collections (
  position bigint primary key,
  org_id uuid not null,
  at timestamptz not null, -- of the record, as on the statement; of a voucher's first sign-in
  paid_at timestamptz, -- when the payer paid; null = not known
  receipt_id uuid,    -- null = a voucher
  subscriber_id uuid, -- whose account got the money, or lost it; null = a voucher
  voucher_id uuid, -- null = a receipt; batch_id likewise
  batch_id uuid,
  channel text not null, -- of cash its kind; '' when it is not known
  received_on date, -- of cash: the local day on which it was given
  taken_by uuid,                  -- user who took the cash, or made the voucher
  amount_minor bigint not null,
  receipts int not null,          -- 1; -1 when nothing of it is left any more; 0 for a part
  why text not null, -- see CollectedWhys
  -- Each row is on one of two sides: it was received, or taken back. A receipt whose last part left before has no money.
  taken_back boolean not null generated always as (amount_minor < 0 or receipts < 0) stored
);
-- Sums over months read the index alone. A list reads the one of its filter, from its newest row on.
create index collections_at on {schema}.collections (org_id, at, position) include (amount_minor, receipts);
create index collections_taken_back on {schema}.collections (org_id, at, position) where taken_back;
create index collections_channel on {schema}.collections (org_id, channel, at, position);
create index collections_taker on {schema}.collections (org_id, taken_by, at, position) where taken_by is not null;
create index collections_receipt on {schema}.collections (receipt_id, position) where receipt_id is not null;

-- What cash was, and who took it. It is recorded before the money is credited to an account.
create table {schema}.cash (
  receipt_id uuid primary key,
  org_id uuid not null,
  user_id uuid, -- null: no user
  kind text not null,
  received_on date -- null: the day of the record
);

-- What happened last to a receipt, as far as it is the cause of its next row. Most receipts have none.
create table {schema}.causes (
  receipt_id uuid primary key,
  org_id uuid, -- null = the owner was not known then
  position bigint not null,
  why text not null -- "placed", "reattributed", "reversed", "absorbed"
);

-- One row for each receipt that was credited to an account, one with a negative amount for each time that money of it was
-- taken off again or set aside for a refund, and one for each voucher that was redeemed. Amounts are minor units of the organization's currency.
create table {schema}.collections (
  position bigint primary key,
  org_id uuid not null,
  at timestamptz not null, -- of the record, as on the statement; of a voucher's first sign-in
  receipt_id uuid,    -- null = a voucher
  subscriber_id uuid, -- null = a voucher
  channel text not null, -- '' when it is not known
  taken_by uuid,                  -- user who took the cash, or made the voucher
  amount_minor bigint not null,
  receipts int not null           -- 1, -1 when nothing of it is left, 0 for a part
);
-- Sums over months read the index alone.
create index collections_at on {schema}.collections (org_id, at) include (amount_minor, receipts);
create index collections_receipt on {schema}.collections (receipt_id, position) where receipt_id is not null;

-- Who took cash. It is recorded before the money is credited to an account.
create table {schema}.cash_takers (
  receipt_id uuid primary key,
  org_id uuid not null,
  user_id uuid not null
);

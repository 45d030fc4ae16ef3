-- One row for each receipt that was credited to an account, and one with a negative amount for each time that money of it
-- was taken off again or set aside for a refund. Amounts are minor units of the organization's currency.
create table {schema}.collections (
  position bigint primary key,
  org_id uuid not null,
  at timestamptz not null, -- of the record, as on the statement
  receipt_id uuid not null,
  subscriber_id uuid not null,
  channel text not null, -- '' when it is not known
  taken_by uuid,                  -- user who took the cash
  amount_minor bigint not null,
  receipts int not null           -- 1, -1 when nothing of it is left, 0 for a part
);
create index collections_at on {schema}.collections (org_id, at);
create index collections_receipt on {schema}.collections (receipt_id, position);

-- Who took cash. It is recorded before the money is credited to an account.
create table {schema}.cash_takers (
  receipt_id uuid primary key,
  org_id uuid not null,
  user_id uuid not null
);

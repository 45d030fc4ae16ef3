-- To which shortcode money was paid. It is recorded before the money is credited to an account. Cash has no row.
create table {schema}.paid_to (
  receipt_id uuid primary key,
  org_id uuid, -- null = the owner was not known when it was recorded
  shortcode text not null,
  environment text not null -- '' in receipts of old: the platform's
);

-- One row for each receipt of mobile money that was credited to an account, and one with a negative amount for each time
-- that money of it was taken off again or set aside for a refund.
create table {schema}.movements (
  position bigint primary key,
  org_id uuid not null,
  at timestamptz not null, -- of the record, as in the report of collections
  receipt_id uuid not null,
  receipt_number text not null,
  shortcode text not null,
  environment text not null,
  amount_minor bigint not null,
  currency text not null,
  receipts int not null -- 1; -1 when nothing of it is left any more; 0 for a part
);
create index movements_receipt on {schema}.movements (receipt_id, position);
create index movements_at on {schema}.movements (at);
create index movements_organization on {schema}.movements (org_id, position desc);

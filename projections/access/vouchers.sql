-- Vouchers that were made together, with what they keep of their plan.
create table {schema}.batches (
  batch_id uuid primary key,
  org_id uuid not null,
  plan_id uuid not null,
  plan_name text not null,
  period text not null, -- the time of a voucher
  prefix text not null,
  price_minor bigint not null,
  currency text not null,
  made_by uuid, -- null = no signed-in person
  made_at timestamptz not null,
  count int not null
);
create index batches_newest on {schema}.batches (org_id, made_at desc, batch_id desc);

-- One row for each voucher. No column has its code.
create table {schema}.vouchers (
  voucher_id uuid primary key,
  org_id uuid not null,
  batch_id uuid not null,
  plan_id uuid not null,
  made_at timestamptz not null,
  redeemed_at timestamptz, -- null = nobody has signed in with it
  ends_at timestamptz,
  device_id uuid, -- the router where its device signed in first
  mac text not null default '',
  moves int not null default 0,
  moved bigint not null default 0, -- revision of the last move; 0 = none
  voided_at timestamptz, -- null = not void
  voided_by uuid, -- null = no signed-in person
  void_reason text not null default ''
);
create index vouchers_voided_by on {schema}.vouchers (voided_by) where voided_by is not null;
create index vouchers_newest on {schema}.vouchers (org_id, made_at desc, voucher_id desc);
create index vouchers_batch on {schema}.vouchers (batch_id, made_at desc, voucher_id desc);
create index vouchers_touched on {schema}.vouchers (org_id, made_at desc, voucher_id desc)
  where redeemed_at is not null or voided_at is not null;
create index vouchers_over on {schema}.vouchers (org_id, coalesce(voided_at, ends_at)); -- null = unused
create index vouchers_unused on {schema}.vouchers (org_id, made_at desc, voucher_id desc)
  where redeemed_at is null and voided_at is null;

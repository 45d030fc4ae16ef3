-- What an invoice earns, as far as it is known, and how much of it is booked in the table revenue.
create table {schema}.earnings (
  invoice_id uuid primary key,
  org_id uuid not null,
  subscription_id uuid, -- whose period it is; null for an invoice of no period
  plan_id uuid, -- of the subscription that got what was sold; null = of none
  net_minor bigint not null,
  tax_minor bigint not null,
  prepaid boolean not null, -- the period takes its time when it is paid
  ordered boolean not null, -- nobody owes it, as long as it was not paid whole
  issued boolean not null default false,
  voided boolean not null default false,
  paid boolean not null default false, -- of a prepaid period
  credited_minor bigint not null default 0, -- by issued credit notes, with tax
  given_up_minor bigint not null default 0, -- by write-offs, of a prepaid period
  lost_minor bigint not null default 0, -- of that, what is a loss: all of it while the period is paid
  from_at timestamptz, -- the place of the period
  to_at timestamptz, -- exclusive
  -- Booked: what was earned until the last change, and what is earned since.
  done_net bigint not null default 0,
  done_tax bigint not null default 0,
  open_net bigint not null default 0,
  open_tax bigint not null default 0,
  open_from timestamptz, -- both null: it waits, because no time runs
  open_to timestamptz,
  way text not null default '', -- how it was booked last; new_way of revenue_book.sql
  position bigint not null default 0 -- of the last event that was applied to the row
);
create index earnings_subscription on {schema}.earnings (subscription_id)
  where open_net <> 0 or open_tax <> 0;

-- The plan of a subscription, whether it is paid ahead, and whether its time runs.
create table {schema}.sold (
  subscription_id uuid primary key,
  org_id uuid not null,
  plan_id uuid not null,
  prepaid boolean not null,
  stopped boolean not null default false, -- its time is: it is paused, or unbilled under terms that bill used days
  ended boolean not null default false
);

-- Money that is earned evenly over the days of [from_at, to_at), or on one day when both are equal; without them it
-- waits. It counts from the day of its record on: what lies before counts on that day, so that a day that is over
-- keeps what it had. Rows are never changed. One with the opposite amounts takes a former one back.
create table {schema}.revenue (
  position bigint not null,
  invoice_id uuid not null,
  part smallint not null,
  org_id uuid not null,
  plan_id uuid,
  at timestamptz not null, -- of the record
  net_minor bigint not null,
  tax_minor bigint not null,
  from_at timestamptz,
  to_at timestamptz,
  ends_at timestamptz generated always as (
    case when to_at is null then 'infinity'::timestamptz else greatest(at, to_at) end) stored,
  primary key (position, invoice_id, part)
);
create index revenue_ends on {schema}.revenue (org_id, ends_at);

-- The write-offs, whose allocations say on which invoices.
create table {schema}.given_up (
  write_off_id uuid primary key,
  org_id uuid not null
);

-- What stands beside the revenue: losses of what was earned, less what was recovered, and vouchers that were sold.
create table {schema}.beside (
  position bigint primary key,
  org_id uuid not null,
  kind text not null, -- loss, voucher
  at timestamptz not null,
  amount_minor bigint not null
);
create index beside_at on {schema}.beside (org_id, at);

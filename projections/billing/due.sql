-- When the next period of each subscription becomes due. A subscription that has ended has no row. Instants are
-- microseconds since 1970, so that the database itself can keep the column due.
create table {schema}.due (
  subscription_id uuid primary key,
  org_id uuid not null,
  prepaid boolean not null,
  short boolean not null, -- its periods are hours or days
  ahead bigint not null, -- from the invoice of a prepaid period to the end of the paid time, in microseconds
  paused boolean not null default false,
  unbilled boolean not null default false, -- cut off and not billed for that
  open uuid[] not null default '{}', -- invoices of prepaid periods that wait for money
  paid_until bigint,
  next_from bigint not null, -- of the next postpaid period
  dropped_at bigint, -- when the newest change was that a period was dropped
  undone_run uuid, -- an undo of this run took the last period back: the next one waits for a person
  due bigint generated always as (case -- null: nothing becomes due by itself
    when paused or unbilled or undone_run is not null then null
    when not prepaid then next_from
    when open = '{}' and (dropped_at is null or paid_until - ahead > dropped_at) then paid_until - ahead
  end) stored,
  again bigint generated always as (case -- when it becomes due once the undone run is asked for again
    when paused or unbilled or undone_run is null or open <> '{}' then null
    when not prepaid then next_from
    else paid_until - ahead
  end) stored
);
create index due_again on {schema}.due (org_id, undone_run, subscription_id) where undone_run is not null;
create index due_next on {schema}.due (org_id, due, subscription_id) where due is not null;

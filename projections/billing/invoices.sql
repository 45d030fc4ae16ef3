create table {schema}.invoices (
  invoice_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  subscription_id uuid,
  number text not null default '',
  state text not null,
  currency text not null,
  total_minor bigint not null,
  paid_minor bigint not null default 0,
  due_minor bigint not null default 0,
  due_on date,
  period_from timestamptz,
  period_to timestamptz,
  lines jsonb not null,
  taxes jsonb not null,
  reason text not null default '',
  drafted_at timestamptz not null,
  issued_at timestamptz,
  voided_at timestamptz
);
create index invoices_newest on {schema}.invoices (org_id, drafted_at desc, invoice_id desc);
create index invoices_subscriber on {schema}.invoices (org_id, subscriber_id, drafted_at desc, invoice_id desc);
create index invoices_state on {schema}.invoices (org_id, state, drafted_at desc, invoice_id desc);
create index invoices_due on {schema}.invoices (org_id, due_on) where due_minor > 0;

-- Money that pays an invoice, from a receipt or a credit note. One row for each allocation that was not withdrawn.
create table {schema}.allocations (
  invoice_id uuid not null,
  source_id uuid not null,
  position bigint not null,
  org_id uuid not null,
  amount_minor bigint not null,
  at timestamptz not null,
  primary key (invoice_id, source_id, position)
);

create table {schema}.credit_notes (
  credit_note_id uuid primary key,
  org_id uuid not null,
  invoice_id uuid not null,
  subscriber_id uuid not null,
  number text not null default '',
  state text not null,
  currency text not null,
  amount_minor bigint not null,
  reason text not null,
  drafted_at timestamptz not null,
  issued_at timestamptz
);
create index credit_notes_invoice on {schema}.credit_notes (invoice_id, drafted_at);

create table {schema}.invoices (
  invoice_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  subscription_id uuid,
  number text not null default '',
  -- as typed numbers are compared with it, byte by byte, so that its beginning can be looked up
  number_key text collate "C" generated always as (upper(number)) stored,
  -- its digits without zeros before them, as people say it
  number_digits text collate "C" generated always as (ltrim(substring(number from '[0-9]+$'), '0')) stored,
  state text not null,
  currency text not null,
  -- total = paid by receipts + covered by credit notes + written off + due, once it is issued
  total_minor bigint not null,
  paid_minor bigint not null default 0,
  credited_minor bigint not null default 0,
  written_off_minor bigint not null default 0,
  recovered_minor bigint not null default 0, -- of the written-off part, by later money
  due_minor bigint not null default 0,
  cancelled boolean not null default false, -- credit notes cover it whole
  due_on date,
  period_from timestamptz,
  period_to timestamptz,
  -- as the document was drafted; a period that begins with its payment has neither
  drafted_from timestamptz,
  drafted_to timestamptz,
  prepaid boolean not null default false, -- the period lies where its payment puts it
  replaces uuid, -- the wrong invoice, in whose place this one is
  ordered boolean not null default false, -- nobody owes it, as long as it was not paid whole
  lines jsonb not null, -- the descriptions are personal
  taxes jsonb not null,
  reason text not null default '', -- personal
  to_be_signed boolean not null default false, -- the tax gateway was on when it became an invoice
  drafted_at timestamptz not null,
  issued_at timestamptz,
  voided_at timestamptz
);
create index invoices_newest on {schema}.invoices (org_id, drafted_at desc, invoice_id desc);
create index invoices_subscriber on {schema}.invoices (org_id, subscriber_id, drafted_at desc, invoice_id desc);
create index invoices_state on {schema}.invoices (org_id, state, drafted_at desc, invoice_id desc);
create index invoices_replaces on {schema}.invoices (replaces) where replaces is not null;
create index invoices_number on {schema}.invoices (org_id, number_key);
create index invoices_digits on {schema}.invoices (org_id, number_digits, invoice_id) where number_digits <> '';
create index invoices_due on {schema}.invoices (org_id, due_on) where due_minor > 0;

-- What covers an invoice. One row for each event that gave money or took it, negative when it took: the sum for each
-- source is what the source covers now.
create table {schema}.allocations (
  position bigint primary key,
  invoice_id uuid not null,
  source_id uuid not null,
  kind text not null, -- 'receipt', 'credit_note', 'write_off'; 'recovery' for money on a written-off part
  org_id uuid not null,
  amount_minor bigint not null,
  at timestamptz not null
);
create index allocations_invoice on {schema}.allocations (invoice_id);

-- Debts that were written off; their allocations are no payments.
create table {schema}.write_offs (
  write_off_id uuid primary key,
  org_id uuid not null
);

-- Subscriptions that are paid ahead, also those that have ended.
create table {schema}.prepaid (
  subscription_id uuid primary key,
  org_id uuid not null
);

-- Whose documents the tax authority signs at the moment.
create table {schema}.tax_gateways (
  org_id uuid primary key,
  turned_on boolean not null
);

create table {schema}.credit_notes (
  credit_note_id uuid primary key,
  org_id uuid not null,
  invoice_id uuid, -- null for a voided number without a draft
  subscriber_id uuid not null,
  number text not null default '',
  state text not null,
  currency text not null,
  amount_minor bigint not null,
  reason text not null, -- personal
  to_be_signed boolean not null default false, -- the tax gateway was on when it was issued, or its order paid
  drafted_at timestamptz not null,
  issued_at timestamptz
);
create index credit_notes_invoice on {schema}.credit_notes (invoice_id, drafted_at);

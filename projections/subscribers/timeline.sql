-- One row for each event about a subscriber. No column is personal: no name, phone, address or username, and no
-- reference that a payer typed. A reason is free text of the staff, so it is erased when the subscriber is forgotten;
-- when money moved between two subscribers, it is erased with both.
create table {schema}.timeline (
  subscriber_id uuid not null,
  position bigint not null,
  org_id uuid not null,
  event_id uuid not null,         -- of the event that the row tells
  at timestamptz not null,
  type text not null,             -- "billing.InvoiceIssued"
  code text not null,             -- "invoice_issued": which sentence the row tells
  facts jsonb not null,           -- what the sentence says beside its code
  actor_kind text not null,
  actor_id text not null,
  actor_role text not null,
  reason text not null,
  cause_type text not null,
  cause_id uuid not null,
  primary key (subscriber_id, position)
);
create index timeline_receipts on {schema}.timeline (cause_id, position) where cause_type = 'receipt';

-- The numbers of issued invoices, for the facts of later rows.
create table {schema}.numbers (
  invoice_id uuid primary key,
  org_id uuid not null,
  number text not null
);
create index timeline_reasons on {schema}.timeline (cause_id) where reason <> '';

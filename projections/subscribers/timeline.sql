-- One row for each fact about a subscriber. Nothing in it is personal: no name, phone, address, username or reference
-- that somebody typed as theirs. A reason is free text of the staff, so it goes when the subscriber is forgotten, also
-- from the other side of money that moved.
create table {schema}.timeline (
  subscriber_id uuid not null,
  position bigint not null,
  org_id uuid not null,
  at timestamptz not null,
  type text not null,             -- "billing.InvoiceIssued"
  summary text not null,
  actor_kind text not null,
  actor_id text not null,
  actor_role text not null,
  reason text not null,
  cause_type text not null,
  cause_id uuid not null,
  primary key (subscriber_id, position)
);
create index timeline_reasons on {schema}.timeline (cause_id) where reason <> '';

-- Every document that needs or has a number. A row is never deleted, so that a document gets one number however often it
-- is drafted.
create table {schema}.documents (
  document_id uuid primary key,
  series_id uuid not null,
  org_id uuid not null,
  kind text not null, -- 'invoice' or 'credit_note'
  prefix text not null,
  subscriber_id uuid not null,
  position bigint not null, -- of the draft in the log
  after_id uuid, -- document that must have ended before this one is numbered; null = none, or it has
  for_run timestamptz, -- until then it is for a billing run to number; null = no run makes it
  seq bigint,               -- null while it waits for its number
  granted_at timestamptz,
  final boolean not null default false -- issued or voided under its number
);
create index documents_waiting on {schema}.documents (series_id, position) where seq is null;
create index documents_after on {schema}.documents (after_id) where after_id is not null;
create index documents_granted on {schema}.documents (series_id, granted_at) where seq is not null and not final;

-- The last number of each series, as of the same event as the rows of documents.
create table {schema}.series (
  series_id uuid primary key,
  org_id uuid not null,
  last bigint not null
);

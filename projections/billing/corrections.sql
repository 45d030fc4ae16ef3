-- What members of staff gave away. An act that has not happened yet has no time.
create table {schema}.acts (
  act_id text primary key, -- kind and id
  org_id uuid not null,
  kind text not null,
  at timestamptz,
  user_id uuid, -- who did it, or asked a second person for it
  gives bigint not null default 0, -- minor units
  takes bigint not null default 0, -- of a reissue: what the corrected invoice charges
  currency text not null,
  approved boolean not null default false, -- by a second person
  revision bigint not null -- of the newest event that changed the row
);
create index acts_days on {schema}.acts (org_id, at) where at is not null;

-- Acts that a second person was asked about, with the compensation or the import that one is about.
create table {schema}.asked (
  approval_id uuid primary key,
  org_id uuid not null,
  compensation_id uuid,
  import_id uuid,
  granted boolean not null default false
);
create index asked_compensation on {schema}.asked (compensation_id) where compensation_id is not null;
create index asked_import on {schema}.asked (import_id) where import_id is not null;

-- Who asked for an import. The act of one appears with the first customer who had paid ahead.
create table {schema}.imports (
  import_id uuid primary key,
  org_id uuid not null,
  user_id uuid
);

-- Who answers for an API key.
create table {schema}.keys (
  key_id uuid primary key,
  org_id uuid not null,
  user_id uuid not null
);

-- Invoices that nobody owed when they were drafted.
create table {schema}.orders (
  invoice_id uuid primary key,
  org_id uuid not null
);

-- org_id is null for the platform's own shortcode.
create table {schema}.reconciliations (
  reconciliation_id uuid primary key,
  org_id uuid,
  environment text not null,
  shortcode text not null,
  lines bigint not null,
  began_at timestamptz not null, -- the earliest time of the statement
  ended_at timestamptz not null, -- the latest
  state text not null,
  failure text not null default '',
  figures jsonb not null default '{}',
  adopted bigint not null default 0,
  uploaded_at timestamptz not null,
  uploaded_by uuid,
  adopted_at timestamptz,
  adopted_by uuid,
  revision bigint not null
);
create index reconciliations_newest on {schema}.reconciliations (org_id, uploaded_at desc, reconciliation_id desc);

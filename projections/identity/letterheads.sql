-- What stands at the head of an organization's documents, one row for each change: a document shows what held when it
-- was issued.
create table {schema}.letterheads (
  org_id uuid not null,
  position bigint not null,
  at timestamptz not null,
  name text not null,
  timezone text not null,
  tax_pin text not null,
  primary key (org_id, position)
);

create table {schema}.plans (
  plan_id uuid primary key,
  org_id uuid not null,
  code text not null,
  version integer not null,
  terms jsonb not null,
  archived boolean not null default false,
  created_at timestamptz not null,
  revision bigint not null
);
create index plans_newest on {schema}.plans (org_id, created_at desc, plan_id desc);

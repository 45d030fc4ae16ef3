create table {schema}.organizations (
  org_id uuid primary key,
  slug text not null,
  name text not null,
  billing jsonb not null,
  suspended boolean not null default false,
  created_at timestamptz not null,
  revision bigint not null
);
create index organizations_newest on {schema}.organizations (created_at desc, org_id desc);

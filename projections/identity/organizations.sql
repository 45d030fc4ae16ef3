create table {schema}.organizations (
  org_id uuid primary key,
  slug text not null,
  name text not null,
  billing jsonb not null,
  prefixes text[] not null, -- the invoice prefixes that it holds, the present one included
  logo text not null default '', -- the hash of the picture on its documents; '' = none
  suspended boolean not null default false,
  second_factor_required boolean not null default false, -- of the staff
  created_at timestamptz not null,
  revision bigint not null
);
-- Prefixes of before are looked at every day; few organizations have any.
create index organizations_with_old_prefixes on {schema}.organizations (org_id) where cardinality(prefixes) > 1;
create index organizations_newest on {schema}.organizations (created_at desc, org_id desc);

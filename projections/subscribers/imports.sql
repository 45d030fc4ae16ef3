create table {schema}.imports (
  import_id uuid primary key,
  org_id uuid not null,
  source text not null,
  state text not null, -- queued, running, finished
  rows integer not null,
  created integer not null default 0,
  skipped integer not null,
  failed integer not null,
  faults jsonb not null, -- the first ones, by part and row
  next_part integer not null default 0,
  asked_by text not null, -- id of the actor
  asked_at timestamptz not null,
  finished_at timestamptz,
  revision bigint not null
);
create index imports_newest on {schema}.imports (org_id, asked_at desc, import_id desc);

-- One row for each write to a CPE.
create table {schema}.operations (
  operation_id uuid primary key,
  cpe_id uuid not null,
  org_id uuid not null,
  kind text not null,
  names text[] not null, -- of parameters, where the person named them
  state text not null,
  call text, -- what became of asking the CPE to call; null = it was not sent yet
  tasks jsonb not null default '[]',
  error_code text,
  error_message text,
  result jsonb, -- of a test that has ended
  asked_at timestamptz not null,
  expires_at timestamptz not null,
  sent_at timestamptz,
  ended_at timestamptz,
  actor_kind text not null,
  actor_id text not null,
  revision bigint not null
);
create index operations_of on {schema}.operations (org_id, cpe_id, asked_at desc, operation_id desc);
create index operations_results on {schema}.operations (org_id, cpe_id, kind, ended_at desc, operation_id desc)
  where result is not null;

-- One row for each write to a CPE.
create table {schema}.operations (
  operation_id uuid primary key,
  cpe_id uuid not null,
  org_id uuid not null,
  kind text not null,
  names text[] not null, -- of parameters, where the person named them
  written text[] not null default '{}', -- names of parameters, where the device's tree decides which are written
  state text not null,
  call text, -- what became of asking the CPE to call; null = it was not sent yet
  tasks jsonb not null default '[]',
  steps jsonb not null default '[]', -- of the set-up of an ONU, with those that are done
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
create index operations_open on {schema}.operations (org_id, cpe_id, asked_at) where state in ('queued', 'sent');
create index operations_results on {schema}.operations (org_id, cpe_id, kind, ended_at desc, operation_id desc)
  where result is not null;

-- The ONU of each CPE of an organization, by the latest request for its set-up.
create table {schema}.onus (
  onu_id uuid primary key,
  org_id uuid not null,
  org_slug text not null,
  cpe_id uuid not null,
  operation_id uuid not null,
  olt text not null,
  port text not null,
  serial text not null,
  vlan int not null,
  registered boolean not null, -- the terminal has it
  asked_at timestamptz not null,
  revision bigint not null
);
create index onus_of on {schema}.onus (org_id, cpe_id, asked_at desc);

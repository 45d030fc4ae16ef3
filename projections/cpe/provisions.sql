-- One row for each name under which an organization has had a provision.
create table {schema}.provisions (
  provision_id uuid primary key,
  org_id uuid not null,
  name text not null,
  stored_name text not null, -- at the CPE server
  tag text not null,
  version int not null,
  script text not null, -- empty once it was taken back
  state text not null, -- 'waiting', 'installed', 'refused', 'removing' or 'removed'
  error_code text,
  error_message text,
  written_at timestamptz not null,
  settled_at timestamptz, -- when the CPE server had the version, or refused it
  actor_kind text not null,
  actor_id text not null,
  revision bigint not null
);
create unique index provisions_name on {schema}.provisions (org_id, name);

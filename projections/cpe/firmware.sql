-- One row for each file of firmware.
create table {schema}.files (
  firmware_id uuid primary key,
  org_id uuid not null,
  filename text not null,
  oui text not null,
  product_class text not null,
  version text not null,
  bytes bigint not null,
  sha256 text not null,
  stored_as text not null, -- its name at the CPE server
  state text not null,
  stored_at timestamptz not null, -- or when its upload began
  actor_kind text not null,
  actor_id text not null,
  revision bigint not null
);
create index files_newest on {schema}.files (org_id, stored_at desc, firmware_id desc);

-- One row for each CPE.
create table {schema}.cpes (
  cpe_id uuid primary key,
  serial_number text not null,
  serial_upper text collate "C" not null, -- by which it is searched for
  oui text not null,
  product_class text not null,
  manufacturer text not null default '',
  model text not null default '',
  firmware text not null default '',
  org_id uuid, -- null = it waits to be claimed
  subscriber_id uuid,
  subscription_id uuid, -- that has the login
  label text, -- null = none, or the person was forgotten
  location text, -- the same
  first_seen timestamptz not null,
  claimed_at timestamptz, -- by the present organization
  sign_in int not null default 0, -- counts the passwords at the CPE server that are worth nothing any more
  sign_in_proven boolean not null default false, -- it has shown the present one, and must from then on
  revision bigint not null
);
create index cpes_newest on {schema}.cpes (org_id, claimed_at desc, cpe_id desc) where org_id is not null;
create index cpes_serial on {schema}.cpes (org_id, serial_upper) where org_id is not null;
create index cpes_of on {schema}.cpes (subscriber_id) where subscriber_id is not null;
-- How many CPEs of an organization have a version of the firmware, so that counting takes as long for ten thousand.
create table {schema}.firmware (
  org_id uuid not null,
  version text not null, -- '' = it is not known
  cpes int not null,
  primary key (org_id, version)
);
-- The login of each subscription, for the CPE that uses it.
create table {schema}.lines (
  subscription_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  plan_id uuid not null,
  username text, -- null = the person was forgotten
  password_ref uuid, -- of the vault
  ended boolean not null default false
);
create index lines_of on {schema}.lines (subscriber_id);
-- The code of each plan.
create table {schema}.plans (
  plan_id uuid primary key,
  org_id uuid not null,
  code text not null
);
-- The slug of each organization.
create table {schema}.organizations (
  org_id uuid primary key,
  slug text not null
);

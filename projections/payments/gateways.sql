create table {schema}.gateways (
  org_id uuid primary key,
  direct boolean not null,
  environment text not null,
  shortcode text not null,
  credentials_ref uuid,
  reject_unknown_accounts boolean not null,
  registered boolean not null,
  error text not null default '',
  revision bigint not null
);

-- The organization of a direct shortcode. The row stays after the shortcode was given up, because money may come late.
create table {schema}.shortcodes (
  shortcode text primary key,
  org_id uuid not null,
  active boolean not null
);
create index shortcodes_organization on {schema}.shortcodes (org_id);

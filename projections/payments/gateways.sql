create table {schema}.gateways (
  org_id uuid primary key,
  direct boolean not null,
  environment text not null,
  shortcode text not null,
  credentials_ref uuid,
  reject_unknown_accounts boolean not null,
  nominated_ref uuid,
  registered boolean not null,
  error text not null default '',
  refusal text not null default '',
  refusal_code text not null default '',
  refused_at timestamptz,
  tried_at timestamptz,
  revision bigint not null
);

-- The organization of a direct shortcode that the provider accepted. The row stays after the shortcode was given up,
-- because money may come late. The sandbox has shortcodes of its own.
create table {schema}.shortcodes (
  shortcode text not null,
  environment text not null,
  org_id uuid not null,
  active boolean not null,
  primary key (shortcode, environment)
);
create index shortcodes_organization on {schema}.shortcodes (org_id);

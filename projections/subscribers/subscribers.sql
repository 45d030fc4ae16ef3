create table {schema}.subscribers (
  subscriber_id uuid primary key,
  org_id uuid not null,
  account_number text not null,
  first_name text,
  last_name text,
  phone text,
  -- a search for the last digits is one for the first ones of this
  phone_reversed text collate "C" generated always as (reverse(phone)) stored,
  email text,
  address text,
  notes text,
  latitude double precision,
  longitude double precision,
  tags text[] not null default '{}',
  external_ref text not null default '',
  status text not null,
  currency text not null,
  balance_minor bigint not null default 0,
  account_position bigint not null default 0,
  created_at timestamptz not null,
  revision bigint not null
);
create index subscribers_newest on {schema}.subscribers (org_id, created_at desc, subscriber_id desc);
create index subscribers_phone on {schema}.subscribers (org_id, phone_reversed, subscriber_id) where phone_reversed <> '';
create index subscribers_status on {schema}.subscribers (org_id, status, created_at desc, subscriber_id desc);

-- One row for each search term of a subscriber. Terms compare byte by byte, so that a prefix search is a range of the
-- primary key; the planner may use such a range together with a row-level security policy.
create table {schema}.terms (
  org_id uuid not null,
  term text collate "C" not null,
  subscriber_id uuid not null,
  primary key (org_id, term, subscriber_id)
);
create index terms_subscriber on {schema}.terms (subscriber_id);

create table {schema}.tags (
  org_id uuid not null,
  tag text collate "C" not null,
  subscriber_id uuid not null,
  primary key (org_id, tag, subscriber_id)
);
create index tags_subscriber on {schema}.tags (subscriber_id);

create table {schema}.subscribers (
  subscriber_id uuid primary key,
  org_id uuid not null,
  account_number text not null,
  first_name text,
  last_name text,
  phone text,
  -- a search for the last digits is one for the first ones of this
  phone_reversed text collate "C" generated always as (reverse(phone)) stored,
  second_phone text not null default '', -- personal
  second_reversed text collate "C" generated always as (reverse(second_phone)) stored,
  message_second boolean not null default false, -- messages go to the second phone
  email text,
  address text,
  notes text,
  latitude double precision,
  longitude double precision,
  tags text[] not null default '{}',
  external_ref text not null default '',
  tax_pin text not null default '', -- personal
  account_aliases text[] not null default '{}', -- personal
  language text, -- of messages; null = the organization's
  only_needed boolean not null default false, -- wants no other messages
  whatsapp boolean not null default false, -- wants them there
  import_row text not null default '', -- personal: the key of the row of an import that made the customer; '' = none
  status text not null,
  blocked boolean not null default false, -- also of a forgotten person, whose status does not tell it
  name_key text collate "C" not null,     -- the name in small letters; what comes after all names when forgotten
  currency text not null,
  balance_minor bigint not null default 0,
  paid_until timestamptz, -- the earliest of the running prepaid services; null = none has paid time
  paid_key timestamptz not null generated always as (coalesce(paid_until, 'infinity'::timestamptz)) stored,
  -- The access of the best service, as places in SubscriberAccesses, each from an instant on: it changes with time alone.
  access_from timestamptz[] not null default '{-infinity}',
  access_level smallint[] not null default '{null}', -- null = no service
  account_position bigint not null default 0,
  created_at timestamptz not null,
  revision bigint not null
);
create index subscribers_newest on {schema}.subscribers (org_id, created_at desc, subscriber_id desc);
create index subscribers_phone on {schema}.subscribers (org_id, phone_reversed, subscriber_id) where phone_reversed <> '';
create index subscribers_second on {schema}.subscribers (org_id, second_reversed, subscriber_id) where second_reversed <> '';
create index subscribers_name on {schema}.subscribers (org_id, name_key, subscriber_id);
create index subscribers_paid on {schema}.subscribers (org_id, paid_key, subscriber_id);
create index subscribers_balance on {schema}.subscribers (org_id, balance_minor desc, subscriber_id desc);
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

-- The subscriptions of each subscriber, with what their access depends on.
create table {schema}.services (
  subscription_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  plan_id uuid not null,
  plan_name text not null,
  mode text not null,
  state text not null,
  since timestamptz not null,       -- of the state
  username text,
  created_at timestamptz not null,
  starts_at timestamptz not null,
  paid_until timestamptz,           -- null before the first paid period
  step text not null default 'none', -- of dunning
  next_step text not null default '', -- that dunning expects; '' = none
  cap_then text not null,           -- what the plan does when the cap is reached; '' = nothing
  cap_reached boolean not null default false,
  cap_until timestamptz,            -- when a reached cap is counted anew; null = not known
  shown boolean not null default true -- it has not ended, or it ended last and there is no other one
);
create index services_subscriber on {schema}.services (subscriber_id);
create index services_plan on {schema}.services (org_id, plan_id, subscriber_id) where shown;
create index services_state on {schema}.services (org_id, state, subscriber_id) where shown;

create table {schema}.users (
  user_id uuid primary key,
  email text not null,
  phone text not null,
  first_name text not null,
  last_name text not null,
  super_admin boolean not null,
  must_change_password boolean not null,
  temporary_until timestamptz,    -- the end of a temporary password; null = the user has chosen one
  registered_at timestamptz not null,
  home uuid,                      -- the organization that registered the user; null for administrators of the platform
  person uuid                     -- the user that stands for the proven person; null while the address is unproven
);
-- Several organizations can have a user with one address. A forgotten person has none.
create index users_email on {schema}.users (email) where email <> '';
create index users_phone on {schema}.users (phone) where phone <> '';
create index users_person on {schema}.users (person) where person is not null;

create table {schema}.members (
  org_id uuid not null,
  user_id uuid not null,
  email text not null,
  phone text not null,
  first_name text not null,
  last_name text not null,
  role text not null,
  pending boolean not null,
  disabled boolean not null default false,
  must_change_password boolean not null,
  temporary_until timestamptz,    -- the end of a temporary password; null = the user has chosen one
  member_since timestamptz not null,
  second_factor boolean not null default false,
  last_sign_in_at timestamptz,    -- at this organization; null = never
  revision bigint not null,
  primary key (org_id, user_id)
);
create index members_newest on {schema}.members (org_id, member_since desc, user_id desc);
create index members_user on {schema}.members (user_id);

-- Who sees what is a subscriber's.
create table {schema}.portal (
  org_id uuid not null,
  subscriber_id uuid not null,
  user_id uuid not null,
  since timestamptz not null,
  primary key (org_id, subscriber_id, user_id)
);
create index portal_user on {schema}.portal (user_id);

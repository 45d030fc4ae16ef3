-- One row for each command and stream that it wrote, for each write to a router, and for each refused request.
create table {schema}.entries (
  id uuid primary key,
  position bigint not null, -- of its first event, which has no other entry; the list is ordered by it
  last_position bigint not null, -- of its newest event; older events were applied already
  org_id uuid, -- null for entries of the platform
  at timestamptz not null,
  actor_kind text not null,
  actor_id text not null,
  actor_user uuid, -- actor_id when the actor is a user
  actor_role text not null,
  ip text,                        -- personal
  action text not null,
  target_type text not null,
  target_id uuid,
  outcome text not null,
  request_id text not null,
  correlation_id text not null,
  reason text not null,           -- personal
  reason_of uuid,                 -- the person whom the reason is about
  code text not null,
  status int not null,
  refusals int not null,          -- that the entry stands for; 0 for what was done
  events text[] not null,
  detail jsonb                    -- of a write to a router: path, before, after
);
create index entries_newest on {schema}.entries (org_id, position desc);
create index entries_actor on {schema}.entries (org_id, actor_id, position desc);
create index entries_action on {schema}.entries (org_id, action, position desc);
create index entries_unhappy on {schema}.entries (org_id, position desc) where outcome <> 'succeeded';
create index entries_target on {schema}.entries (org_id, target_id, position desc);
create index entries_at on {schema}.entries (org_id, at);
create index entries_all on {schema}.entries (position desc);
create index entries_correlation on {schema}.entries (correlation_id, actor_id, position) where ip is not null;
create index entries_reasons on {schema}.entries (reason_of) where reason_of is not null;
create index entries_places on {schema}.entries (actor_user) where ip is not null;

-- Names of people who can sign in; only the platform reads them.
create table {schema}.people (
  user_id uuid primary key,
  name text                       -- personal
);

-- Names of users who acted in an organization, as that organization knows them.
create table {schema}.actors (
  org_id uuid not null,
  user_id uuid not null,
  name text,                      -- personal
  primary key (org_id, user_id)
);
create index actors_user on {schema}.actors (user_id);

-- One row for each support request.
create table {schema}.requests (
  request_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  subject text, -- null = the person was forgotten
  state text not null,
  assignee uuid, -- null = nobody in particular
  opened_at timestamptz not null,
  last_at timestamptz not null, -- of the last text that the customer reads
  waiting_since timestamptz, -- of the customer; null = staff has nothing to answer
  closed_at timestamptz,
  revision bigint not null
);
create index requests_waiting on {schema}.requests (org_id, waiting_since) where waiting_since is not null;
create index requests_latest on {schema}.requests (org_id, last_at desc);
create index requests_of on {schema}.requests (subscriber_id);
-- One row for each text.
create table {schema}.texts (
  request_id uuid not null,
  number int not null,
  org_id uuid not null,
  subscriber_id uuid not null,
  at timestamptz not null,
  by_customer boolean not null,
  internal boolean not null, -- for staff alone
  user_id uuid, -- who wrote it; null = no user
  text text, -- null = the person was forgotten
  primary key (request_id, number)
);
create index texts_of on {schema}.texts (subscriber_id);

-- Acts that wait for a second person, or waited.
create table {schema}.approvals (
  approval_id uuid primary key,
  org_id uuid not null,
  kind text not null,
  subscriber_id uuid, -- null: about no customer in particular
  amount_minor bigint not null,
  currency text not null,
  act jsonb not null, -- ids and figures: nothing personal
  reason text not null, -- personal, like decision_reason
  state text not null,
  requested_at timestamptz not null,
  requested_by uuid not null, -- a member of staff, as is decided_by
  expires_at timestamptz not null,
  decided_at timestamptz,
  decided_by uuid,
  decision_reason text not null default '',
  ended_at timestamptz,
  failure text not null default '',
  revision bigint not null
);
create index approvals_newest on {schema}.approvals (org_id, requested_at desc, approval_id desc);
create index approvals_state on {schema}.approvals (org_id, state, requested_at desc, approval_id desc);
create index approvals_subscriber on {schema}.approvals (subscriber_id) where subscriber_id is not null;

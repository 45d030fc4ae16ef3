-- What changed many customers at once: billing runs, imports, compensations and moves of plans.
create table {schema}.batches (
  batch_id uuid primary key,
  org_id uuid not null,
  kind text not null,
  title text not null, -- date of a run, source of an import, reason of a compensation, name of a plan
  state text not null, -- queued, running, held, finished
  asked_at timestamptz not null,
  asked_by uuid, -- a member of staff; null = the clock
  again_at timestamptz, -- when a run was asked for last, after the first time
  again_by uuid,
  finished_at timestamptz,
  moved_at timestamptz not null, -- the last step of the batch as a whole, or of its undo
  failed integer not null default 0,
  undo_round integer not null default 0, -- 0 = never
  undo_state text not null default '', -- running, finished
  undo_reason text not null default '',
  undo_at timestamptz,
  undo_by uuid,
  undo_ended_at timestamptz,
  revision bigint not null default 0 -- of the stream of the undo
);
create index batches_newest on {schema}.batches (org_id, asked_at desc, batch_id desc);
create index batches_working on {schema}.batches (org_id) where state in ('queued', 'running') or undo_state = 'running';

-- What a batch made: invoices of a run, customers of an import, subscriptions of a compensation or of a move.
create table {schema}.items (
  batch_id uuid not null,
  item_id uuid not null,
  org_id uuid not null,
  subscriber_id uuid not null,
  subscription_id uuid,
  made_at timestamptz, -- null = planned
  amount_minor bigint not null default 0,
  currency text not null default '',
  days integer not null default 0,
  outcome text not null default '', -- of an undo: undone, credited, blocked
  code text not null default '', -- why it is blocked
  primary key (batch_id, item_id)
);
create index items_item on {schema}.items (item_id);
create index items_subscriber on {schema}.items (subscriber_id) where subscription_id is null;

-- The credit notes by which a compensation gives money: an account decides how much is left to give.
create table {schema}.notes (
  credit_note_id uuid primary key,
  org_id uuid not null,
  batch_id uuid not null,
  item_id uuid not null,
  amount_minor bigint not null default 0 -- 0 = not drafted
);
create index notes_item on {schema}.notes (batch_id, item_id);

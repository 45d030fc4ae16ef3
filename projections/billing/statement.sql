-- One row for each fact that moves what a subscriber owes, with the balance after it. Facts are appended in the order of
-- the log, so a row's balance is the one before it and its own amounts.
create table {schema}.statement_lines (
  subscriber_id uuid not null,
  position bigint not null,
  org_id uuid not null,
  at timestamptz not null,
  kind text not null,
  description text not null,
  currency text not null,
  debit_minor bigint not null,
  credit_minor bigint not null,
  balance_minor bigint not null,
  cause_type text not null,
  cause_id uuid not null,
  primary key (subscriber_id, position)
);

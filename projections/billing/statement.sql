-- One row for each event that changes a subscriber's balance, with the balance after it. Rows are inserted in the order
-- of the log, so a row's balance is the balance of the row before plus its own amounts.
create table {schema}.statement_lines (
  subscriber_id uuid not null,
  position bigint not null,
  org_id uuid not null,
  at timestamptz not null,
  kind text not null,
  number text not null, -- of the document or receipt; '' = it has none yet
  invoice text not null, -- number of the invoice that a credit note is for; '' = none
  channel text not null, -- of a payment; '' = none
  remark text, -- personal: the reason that somebody gave
  outcome text not null default '', -- of a refund: completed, failed; '' = it waits, or no refund
  reference text not null default '', -- of a completed refund: the number of the payment to the payer
  currency text not null,
  debit_minor bigint not null,
  credit_minor bigint not null,
  balance_minor bigint not null,
  cause_type text not null,
  cause_id uuid not null,
  primary key (subscriber_id, position)
);

-- Whether the invoices of organizations go to the bill manager.
create table {schema}.bill_managers (
  org_id uuid primary key,
  turned_on boolean not null,
  reminders boolean not null,
  has_left boolean not null, -- it is off because of a shortcode of the organization's own
  revision bigint not null
);

-- Every invoice that goes, or went, to the bill manager.
create table {schema}.bills (
  invoice_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  number text not null,
  stage text not null, -- queued, sent, failed, cancelled
  offered boolean not null default false, -- the bill manager may have it
  doubts integer not null default 0,
  reference text not null default '',
  recalled text not null default '', -- why it is to be taken back, or was
  settled_at timestamptz, -- since when nothing is due on the invoice
  asked_minor bigint not null default 0,
  through_minor bigint not null default 0, -- came through the bill manager in this round
  unacknowledged integer not null default 0, -- number of payments
  code text not null default '', -- of the last failure
  message text not null default '', -- of the last failure; "" also for a forgotten person
  forgotten boolean not null default false,
  queued_at timestamptz not null, -- again in each round
  sent_at timestamptz,
  retry_at timestamptz, -- before which nothing is asked about it; null = at once
  waits_for text not null default '', -- why it is not sent before retry_at; of no meaning without that
  revision bigint not null,
  paid_whole boolean generated always as (asked_minor > 0 and through_minor >= asked_minor) stored,
  state text generated always as (case
    when through_minor > 0 and (settled_at is not null or asked_minor > 0 and through_minor >= asked_minor)
      then case when unacknowledged > 0 then 'paid' else 'acknowledged' end
    else stage end) stored,
  busy boolean generated always as (stage = 'queued' or unacknowledged > 0 or stage = 'sent'
    and not (asked_minor > 0 and through_minor >= asked_minor)
    and (forgotten or recalled <> '' or settled_at is not null)) stored
);
create index bills_newest on {schema}.bills (org_id, queued_at desc, invoice_id desc);
create index bills_state on {schema}.bills (org_id, state, queued_at desc, invoice_id desc);
create index bills_busy on {schema}.bills (org_id, queued_at, invoice_id) where busy;
create index bills_sent on {schema}.bills (org_id) where stage = 'sent' and recalled = '';
create index bills_subscriber on {schema}.bills (subscriber_id);

-- Read by the platform role only: it finds payers across organizations.
-- The invoice prefixes that an organization has, or had at any time. Another one may have a released prefix now.
create table {schema}.prefixes (
  org_id uuid not null,
  prefix text not null,
  present boolean not null, -- its invoices get it now
  used boolean not null, -- an invoice was issued with it; before that it names nobody's
  primary key (org_id, prefix)
);
create index prefixes_prefix on {schema}.prefixes (prefix);

create table {schema}.payers (
  subscriber_id uuid primary key,
  org_id uuid not null,
  account_number text not null,
  currency text not null,
  phone text
);
create index payers_account on {schema}.payers (account_number text_pattern_ops);
create index payers_phone on {schema}.payers (phone) where phone is not null;

create table {schema}.invoices (
  invoice_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  number text not null,
  number_key text not null, -- in capitals, with its dash: ACME-10007 and ACME1-0007 are two invoices
  released boolean not null default false, -- the organization gave its prefix up: the number leads to nobody
  since bigint not null -- position in the log
);
create index invoices_key on {schema}.invoices (number_key text_pattern_ops);
create index invoices_subscriber on {schema}.invoices (subscriber_id);

-- Account numbers that customers had in other systems.
create table {schema}.aliases (
  subscriber_id uuid not null,
  org_id uuid not null,
  alias text not null, -- personal
  since bigint not null, -- position in the log, from which the customer has it
  primary key (subscriber_id, alias)
);
create index aliases_alias on {schema}.aliases (alias);

create table {schema}.usernames (
  subscription_id uuid primary key,
  org_id uuid not null,
  subscriber_id uuid not null,
  username text,
  since bigint not null -- position in the log, from which the subscription has it
);
create index usernames_username on {schema}.usernames (username text_pattern_ops) where username is not null;
create index usernames_subscriber on {schema}.usernames (subscriber_id);

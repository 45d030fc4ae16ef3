-- +goose Up
-- Whose a sealed row is: who forgets a person looks at rows of the own organization, and at those that belong to none.
-- null = the platform's. Answers and statements of before have none; they go within a day, and within a month.
-- docs/rules/subscribers.md#traces
alter table {schema}.idempotency add column org_id uuid;
alter table {schema}.callbacks add column org_id uuid;
alter table {schema}.statements add column org_id uuid;
alter table {schema}.statements add column shortcode text not null default '';
alter table {schema}.statement_outcomes add column org_id uuid;
alter table {schema}.statement_outcomes add column shortcode text not null default '';
update {schema}.callbacks c set org_id = s.org_id from {schema}.callback_secrets s
where s.ref = c.ref and s.org_id is not null;

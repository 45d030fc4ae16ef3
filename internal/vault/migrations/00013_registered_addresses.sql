-- +goose Up
-- What is known of the registration of an owner's addresses with the provider, which takes addresses once for a
-- shortcode. docs/rules/payments.md#registered-addresses
alter table {schema}.callback_secrets
	add column registration text not null default '', -- see vault.Registration
	add column addresses    text not null default ''; -- their fingerprint
update {schema}.callback_secrets set registration = 'unrecorded' where kind = 'c2b';

package exportscases

import (
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/audit"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/outages"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// table is one file of an export: the rows of a statement on a read model. A column that ends in _minor is written in
// major units of the row's currency. Row-level security leaves the organization's rows alone; no statement names a
// secret, nor the reference of one.
type table struct {
	file       string
	projection string
	sql        string
}

// tables are the files of an export, in their order.
var tables = []table{
	{"customers", subscribersviews.SubscribersName, `
select subscriber_id as id, account_number, first_name, last_name, phone, second_phone, message_second, email, address,
	latitude, longitude,
	array_to_string(tags, '|') as tags, array_to_string(account_aliases, '|') as account_aliases, notes, external_ref,
	tax_pin, language, only_needed, whatsapp, status, currency, balance_minor, paid_until, created_at
from {schema}.subscribers order by created_at, subscriber_id`},
	{"plans", subscribersviews.PlansName, `
select plan_id as id, code, version, archived, terms->>'name' as name, terms->>'kind' as kind,
	terms->'price'->>'currency' as currency, (terms->'price'->>'minor')::bigint as price_minor, terms, created_at
from {schema}.plans order by created_at, plan_id`},
	{"subscriptions", subscribersviews.SubscriptionsName, `
select subscription_id as id, subscriber_id, plan_id, plan_version, state, reason, starts_at, activated_at, paid_until,
	username, static_ip, static_ipv6_prefix, array_to_string(mac_addresses, '|') as mac_addresses,
	array_to_string(routes, '|') as routes, terms, created_at
from {schema}.subscriptions order by created_at, subscription_id`},
	{"periods", subscribersviews.SubscriptionsName, `
select subscription_id, invoice_id, ordinal, state, due_at, paid_at, from_at, to_at
from {schema}.subscription_periods order by subscription_id, ordinal`},
	{"extras", subscribersviews.SubscriptionsName, `
select subscription_id, extra_id as id, extra->>'kind' as kind, description, extra->'amount'->>'currency' as currency,
	(extra->'amount'->>'minor')::bigint as amount_minor, (extra->>'basisPoints')::bigint as basis_points,
	(extra->>'periods')::int as periods, extra->>'until' as until, added_at, removed_at
from {schema}.extras order by added_at, subscription_id, extra_id`},
	{"blocks", subscribersviews.SubscriptionsName, `
select subscriber_id, reason, since from {schema}.blocks order by since, subscriber_id`},
	{"top_ups", accessviews.UsageName, `
select top_up_id as id, subscription_id, subscriber_id, bytes, period, starts, resets_at, reason, currency, price_minor,
	invoice_id, at, added_at, dropped_at
from {schema}.top_ups order by at, top_up_id`},
	{"dunning", accessviews.DunningName, `
select subscription_id, subscriber_id, state, since, due_at, paid_until, debts, next_state, next_at, hold_from,
	hold_until, hold_reason
from {schema}.dunning order by subscription_id`},
	{"invoices", billingviews.InvoicesName, `
select invoice_id as id, number, state, subscriber_id, subscription_id, currency, total_minor, paid_minor,
	credited_minor, written_off_minor, due_minor, due_on, period_from, period_to, ordered, taxes, reason, drafted_at,
	issued_at, voided_at
from {schema}.invoices order by drafted_at, invoice_id`},
	{"invoice_lines", billingviews.InvoicesName, `
select i.invoice_id, i.number, n as line, l->>'description' as description, l->>'quantity' as quantity, i.currency,
	(l->'unitPrice'->>'minor')::bigint as unit_price_minor, (l->'net'->>'minor')::bigint as net_minor,
	(l->'gross'->>'minor')::bigint as gross_minor, l->'taxes' as taxes
from {schema}.invoices i, jsonb_array_elements(i.lines) with ordinality as x (l, n)
order by i.drafted_at, i.invoice_id, n`},
	{"credit_notes", billingviews.InvoicesName, `
select credit_note_id as id, number, state, invoice_id, subscriber_id, currency, amount_minor, reason, drafted_at,
	issued_at
from {schema}.credit_notes order by drafted_at, credit_note_id`},
	{"tax_signatures", billingviews.SignaturesName, `
select signature_id as id, subscriber_id, invoice_id, document, number, currency, total_minor, state, issued_at, code,
	message, refused_at, control_number, verification, signed_at
from {schema}.signatures order by issued_at, signature_id`},
	{"tax_gateway", billingviews.SignaturesName, `
select turned_on, address, serial, branch, messages from {schema}.tax_gateways`},
	{"allocations", billingviews.InvoicesName, `
select a.invoice_id, a.source_id, a.kind, i.currency, a.amount_minor, a.at
from {schema}.allocations a join {schema}.invoices i using (invoice_id) order by a.position`},
	{"statement_lines", billingviews.StatementName, `
select subscriber_id, at, kind, number, invoice, channel, remark, currency, debit_minor, credit_minor, balance_minor,
	outcome, reference, cause_type, cause_id
from {schema}.statement_lines order by subscriber_id, position`},
	{"receipts", paymentsviews.ReceiptsName, `
select receipt_id as id, receipt_number, provider, environment, channel, shortcode, currency, amount_minor,
	refunded_minor, cash_kind as kind, received_on, paid_at, payer_phone, payer_name, bill_ref, state, reason,
	subscriber_id, matched_by,	credited_to, payment_id, recorded_at
from {schema}.receipts order by recorded_at, receipt_id`},
	{"payments", paymentsviews.PaymentsName, `
select payment_id as id, subscriber_id, invoice_id, gateway, currency, amount_minor, phone, stage, receipt_id,
	receipt_number, message, account_reference, initiated_at, settled_at
from {schema}.payments order by initiated_at, payment_id`},
	{"refunds", paymentsviews.RefundsName, `
select refund_id as id, receipt_id, receipt_number, subscriber_id, currency, amount_minor, method, state, reason,
	requested_at, approved_at, settled_at, reference, failure, message
from {schema}.refunds order by requested_at, refund_id`},
	{"reconciliations", paymentsviews.ReconciliationsName, `
select reconciliation_id as id, environment, shortcode, lines, began_at, ended_at, state, failure, figures, adopted,
	uploaded_at, uploaded_by, adopted_at, adopted_by
from {schema}.reconciliations order by uploaded_at, reconciliation_id`},
	{"payment_gateway", paymentsviews.GatewaysName, `
select direct, environment, shortcode, reject_unknown_accounts, registered from {schema}.gateways`},
	{"routers", networkviews.DevicesName, `
select device_id as id, details->>'name' as name, details, tunnel_address, created_at, removed_at
from {schema}.devices order by created_at, device_id`},
	{"network_services", networkviews.ServicesName, `
select service_id as id, device_id, binding, addressing, walled_garden, state, created_at, removed_at
from {schema}.services order by created_at, service_id`},
	{"customer_devices", cpeviews.CPEsName, `
select cpe_id as id, serial_number, oui, product_class, manufacturer, model, firmware, subscriber_id, subscription_id,
	label, location, first_seen, claimed_at
from {schema}.cpes order by claimed_at, cpe_id`},
	{"customer_device_operations", cpeviews.OperationsName, `
select operation_id as id, cpe_id, kind, array_to_string(names, '|') as names, state, error_code, error_message,
	asked_at, sent_at, ended_at
from {schema}.operations order by asked_at, operation_id`},
	{"voucher_batches", accessviews.VouchersName, `
select batch_id as id, plan_id, plan_name, period, prefix, currency, price_minor, made_at, count
from {schema}.batches order by made_at, batch_id`},
	{"vouchers", accessviews.VouchersName, `
select voucher_id as id, batch_id, plan_id, made_at, redeemed_at, ends_at, mac, voided_at, void_reason
from {schema}.vouchers order by made_at, voucher_id`},
	{"messages", messagingviews.MessagesName, `
select message_id as id, subscriber_id, subscription_id, at, template, channel, address, state, code, state_at
from {schema}.messages order by at, message_id`},
	{"support_requests", messagingviews.SupportName, `
select request_id as id, subscriber_id, subject, state, assignee, opened_at, last_at, closed_at
from {schema}.requests order by opened_at, request_id`},
	{"support_texts", messagingviews.SupportName, `
select request_id, number, subscriber_id, at, by_customer, internal, user_id, text
from {schema}.texts order by request_id, number`},
	{"outages", outagesviews.OutagesName, `
select outage_id as id, device_id, service_id, tag, array_to_string(devices, '|') as devices, title, message, detected,
	started_at, expected_end, ended_at, merged_into, begun_by
from {schema}.outages order by started_at, outage_id`},
	{"outage_rules", outagesviews.OutagesName, `
select rules from {schema}.rules`},
	{"compensations", outagesviews.CompensationsName, `
select compensation_id as id, outage_id, device_id, service_id, tag, from_at, to_at, give, reason, subscriptions, given,
	refused, previewed_at, previewed_by, applied_at, applied_by, finished_at
from {schema}.compensations order by previewed_at, compensation_id`},
	{"compensation_items", outagesviews.CompensationsName, `
select compensation_id, number, subscription_id, subscriber_id, days, currency, amount_minor, code, given
from {schema}.items order by compensation_id, number`},
	{"organization", identityviews.OrganizationsName, `
select org_id as id, slug, name, array_to_string(prefixes, '|') as invoice_prefixes, suspended, second_factor_required,
	created_at
from {schema}.organizations`},
	{"letterheads", identityviews.LetterheadsName, `
select at, name, timezone, tax_pin from {schema}.letterheads order by position`},
	{"api_keys", identityviews.APIKeysName, `
select key_id as id, name, role, array_to_string(scopes, '|') as scopes, expires_at, created_at, created_by, rotated_at,
	revoked_at
from {schema}.api_keys order by created_at, key_id`},
	{"staff", identityviews.UsersName, `
select user_id as id, email, phone, first_name, last_name, role, disabled, member_since, last_sign_in_at
from {schema}.members order by member_since, user_id`},
	{"audit_log", auditviews.LogName, `
select id, at, actor_kind, actor_id, actor_role, ip, action, target_type, target_id, outcome, code, reason, request_id,
	correlation_id
from {schema}.entries order by position`},
}

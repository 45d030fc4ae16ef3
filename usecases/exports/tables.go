package exportscases

import (
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/audit"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/projections/network"
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
select subscriber_id as id, account_number, first_name, last_name, phone, email, address, latitude, longitude,
	array_to_string(tags, '|') as tags, array_to_string(account_aliases, '|') as account_aliases, notes, external_ref,
	tax_pin, language, only_needed, whatsapp, status, currency, balance_minor, paid_until, created_at
from {schema}.subscribers order by created_at, subscriber_id`},
	{"plans", subscribersviews.PlansName, `
select plan_id as id, code, version, archived, terms->>'name' as name, terms->>'kind' as kind,
	terms->'price'->>'currency' as currency, (terms->'price'->>'minor')::bigint as price_minor, terms, created_at
from {schema}.plans order by created_at, plan_id`},
	{"subscriptions", subscribersviews.SubscriptionsName, `
select subscription_id as id, subscriber_id, plan_id, plan_version, state, reason, starts_at, activated_at, paid_until,
	username, static_ip, static_ipv6_prefix, array_to_string(mac_addresses, '|') as mac_addresses, terms, created_at
from {schema}.subscriptions order by created_at, subscription_id`},
	{"periods", subscribersviews.SubscriptionsName, `
select subscription_id, invoice_id, ordinal, state, due_at, paid_at, from_at, to_at
from {schema}.subscription_periods order by subscription_id, ordinal`},
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
	{"allocations", billingviews.InvoicesName, `
select a.invoice_id, a.source_id, a.kind, i.currency, a.amount_minor, a.at
from {schema}.allocations a join {schema}.invoices i using (invoice_id) order by a.position`},
	{"statement_lines", billingviews.StatementName, `
select subscriber_id, at, kind, number, invoice, channel, remark, currency, debit_minor, credit_minor, balance_minor,
	outcome, reference, cause_type, cause_id
from {schema}.statement_lines order by subscriber_id, position`},
	{"receipts", paymentsviews.ReceiptsName, `
select receipt_id as id, receipt_number, provider, environment, channel, shortcode, currency, amount_minor,
	refunded_minor, paid_at, payer_phone, payer_name, bill_ref, state, reason, subscriber_id, matched_by,
	credited_to, payment_id, recorded_at
from {schema}.receipts order by recorded_at, receipt_id`},
	{"payments", paymentsviews.PaymentsName, `
select payment_id as id, subscriber_id, invoice_id, gateway, currency, amount_minor, phone, stage, receipt_id,
	receipt_number, message, account_reference, initiated_at, settled_at
from {schema}.payments order by initiated_at, payment_id`},
	{"refunds", paymentsviews.RefundsName, `
select refund_id as id, receipt_id, receipt_number, subscriber_id, currency, amount_minor, method, state, reason,
	requested_at, approved_at, settled_at, reference, failure, message
from {schema}.refunds order by requested_at, refund_id`},
	{"routers", networkviews.DevicesName, `
select device_id as id, details->>'name' as name, details, tunnel_address, created_at, removed_at
from {schema}.devices order by created_at, device_id`},
	{"network_services", networkviews.ServicesName, `
select service_id as id, device_id, binding, addressing, walled_garden, state, created_at, removed_at
from {schema}.services order by created_at, service_id`},
	{"voucher_batches", accessviews.VouchersName, `
select batch_id as id, plan_id, plan_name, period, prefix, currency, price_minor, made_at, count
from {schema}.batches order by made_at, batch_id`},
	{"vouchers", accessviews.VouchersName, `
select voucher_id as id, batch_id, plan_id, made_at, redeemed_at, ends_at, mac, voided_at, void_reason
from {schema}.vouchers order by made_at, voucher_id`},
	{"messages", messagingviews.MessagesName, `
select message_id as id, subscriber_id, subscription_id, at, template, channel, address, state, code, state_at
from {schema}.messages order by at, message_id`},
	{"staff", identityviews.UsersName, `
select user_id as id, email, phone, first_name, last_name, role, disabled, member_since, last_sign_in_at
from {schema}.members order by member_since, user_id`},
	{"audit_log", auditviews.LogName, `
select id, at, actor_kind, actor_id, actor_role, ip, action, target_type, target_id, outcome, code, reason, request_id,
	correlation_id
from {schema}.entries order by position`},
}

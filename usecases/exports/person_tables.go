package exportscases

import (
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/audit"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// personTable is one section of what is kept of a person: the rows of a statement on a read model, or on the tables of
// telemetry for the empty projection.
type personTable struct {
	table

	staff bool // the portal shows none of it
}

// personTables are the sections, in their order. No statement names a secret or the reference of one, nor another
// person: of a payer and of who signs in only what is the customer's own contact, of staff only the role. What staff
// noted for themselves in a support request is no row: it is talk among them, and may be about others.
var personTables = []personTable{
	{table{"details", subscribersviews.SubscribersName, `
select first_name, last_name, phone, nullif(second_phone, '') as second_phone, email,
	address, latitude, longitude, tax_pin,
	to_jsonb(account_aliases) as account_aliases, case when not @own then notes end as notes,
	case when not @own then to_jsonb(tags) end as tags, case when not @own then external_ref end as external_ref,
	status, currency, balance_minor, created_at
from {schema}.subscribers where subscriber_id = @subscriber`}, false},
	{table{"consents", subscribersviews.SubscribersName, `
select language, only_needed, whatsapp, message_second
from {schema}.subscribers where subscriber_id = @subscriber`}, false},
	{table{"services", subscribersviews.SubscriptionsName, `
select subscription_id as id, terms->>'name' as plan, state, case when not @own then reason end as reason, starts_at,
	activated_at, paid_until, username, static_ip, static_ipv6_prefix, to_jsonb(mac_addresses) as mac_addresses,
	to_jsonb(routes) as routes, created_at
from {schema}.subscriptions where subscriber_id = @subscriber order by created_at, subscription_id`}, false},
	{table{"devices", cpeviews.CPEsName, `
select serial_number, oui, product_class, manufacturer, model, firmware, case when not @own then label end as label,
	case when not @own then location end as location, first_seen, claimed_at
from {schema}.cpes where subscriber_id = @subscriber order by claimed_at, cpe_id`}, false},
	{table{"periods", subscribersviews.SubscriptionsName, `
select p.subscription_id, p.invoice_id, p.ordinal, p.state, p.paid_at, p.from_at, p.to_at
from {schema}.subscription_periods p join {schema}.subscriptions s using (subscription_id)
where s.subscriber_id = @subscriber order by p.subscription_id, p.ordinal`}, false},
	{table{"extras", subscribersviews.SubscriptionsName, `
select x.subscription_id, x.description, x.added_at, x.removed_at
from {schema}.extras x join {schema}.subscriptions s using (subscription_id)
where s.subscriber_id = @subscriber order by x.added_at, x.extra_id`}, false},
	{table{"blocks", subscribersviews.SubscriptionsName, `
select reason, since from {schema}.blocks where subscriber_id = @subscriber`}, true},
	{table{"invoices", billingviews.InvoicesName, `
select invoice_id as id, number, state, subscription_id, currency, total_minor, paid_minor, credited_minor,
	written_off_minor, due_minor, due_on, period_from, period_to, lines, case when not @own then reason end as reason,
	issued_at, voided_at
from {schema}.invoices where subscriber_id = @subscriber and (not @own or state <> 'draft')
order by drafted_at, invoice_id`}, false},
	{table{"creditNotes", billingviews.InvoicesName, `
select credit_note_id as id, number, state, invoice_id, currency, amount_minor,
	case when not @own then reason end as reason, issued_at
from {schema}.credit_notes where subscriber_id = @subscriber and (not @own or state <> 'draft')
order by drafted_at, credit_note_id`}, false},
	{table{"account", billingviews.StatementName, `
select at, kind, number, invoice, channel, case when not @own then remark end as remark, currency, debit_minor,
	credit_minor, balance_minor, reference
from {schema}.statement_lines where subscriber_id = @subscriber order by position`}, false},
	{table{"receipts", paymentsviews.ReceiptsName, `
select receipt_id as id, receipt_number, channel, cash_kind as kind, received_on, currency, amount_minor,
	refunded_minor, paid_at,
	case when own then payer_phone end as payer_phone, case when own then payer_name end as payer_name,
	case when own then bill_ref end as bill_ref, state, payment_id, recorded_at
from (select *, right(regexp_replace(payer_phone, '[^0-9]', '', 'g'), 9)
		in (right(regexp_replace(@phone, '[^0-9]', '', 'g'), 9),
			nullif(right(regexp_replace(@second, '[^0-9]', '', 'g'), 9), '')) as own
	from {schema}.receipts where subscriber_id = @subscriber and state <> 'absorbed') r
order by recorded_at, receipt_id`}, false},
	{table{"payments", paymentsviews.PaymentsName, `
select payment_id as id, invoice_id, gateway, currency, amount_minor,
	case when right(phone, 9) in (right(@phone, 9), nullif(right(@second, 9), '')) then phone end as phone,
	stage, receipt_number, initiated_at, settled_at
from {schema}.payments where subscriber_id = @subscriber and (not @own or held_by = @subscriber)
order by initiated_at, payment_id`}, false},
	{table{"refunds", paymentsviews.RefundsName, `
select refund_id as id, receipt_number, currency, amount_minor, method, state,
	case when not @own then reason end as reason, requested_at, settled_at, reference
from {schema}.refunds where subscriber_id = @subscriber order by requested_at, refund_id`}, false},
	{table{"messages", messagingviews.MessagesName, `
select message_id as id, at, template, channel, case when not @own or lower(address) = lower(@email)
	or right(address, 9) in (right(@phone, 9), nullif(right(@second, 9), '')) then address end as address,
	state, state_at
from {schema}.messages where subscriber_id = @subscriber order by at, message_id`}, false},
	{table{"support", messagingviews.SupportName, `
select r.request_id, r.subject, r.state, t.at, case when t.by_customer then 'customer' else 'staff' end as "from",
	t.text
from {schema}.requests r join {schema}.texts t using (request_id)
where r.subscriber_id = @subscriber and not t.internal order by r.opened_at, r.request_id, t.number`}, false},
	{table{"topUps", accessviews.UsageName, `
select subscription_id, bytes, period, case when not @own then reason end as reason, at, added_at
from {schema}.top_ups where subscriber_id = @subscriber order by at, top_up_id`}, false},
	{table{"dunning", accessviews.DunningName, `
select subscription_id, state, since, due_at, hold_from, hold_until, hold_reason
from {schema}.dunning where subscriber_id = @subscriber`}, true},
	{table{"usage", "", `
select subscription_id, step, starts, bytes_down, bytes_up, seconds
from {schema}.usage where subscriber_id = @subscriber order by subscription_id, step, starts`}, false},
	{table{"sessions", "", `
select subscription_id, (started_at at time zone 'UTC')::date as day, count(*) as sessions,
	to_jsonb(array_agg(distinct host(ip)) filter (where ip is not null)) as addresses,
	to_jsonb(array_agg(distinct mac) filter (where mac <> '')) as equipment
from {schema}.sessions where subscriber_id = @subscriber group by 1, 2 order by 1, 2`}, false},
	{table{"timeline", subscribersviews.TimelineName, `
select at, type, code, facts, actor_kind, actor_role, reason
from {schema}.timeline where subscriber_id = @subscriber order by position`}, true},
	{table{"portalSignIns", identityviews.UsersName, `
select p.since, m.last_sign_in_at, case when m.phone = @phone then nullif(m.phone, '') end as phone,
	case when m.email = @email then nullif(m.email, '') end as email
from {schema}.portal p join {schema}.members m using (org_id, user_id)
where p.subscriber_id = @subscriber order by p.since`}, true},
	{table{"looks", auditviews.LogName, `
select at, action, actor_kind, actor_role from {schema}.entries
where target_type = 'subscriber' and target_id = @subscriber
	and action in ('audit.LookUpAddress', 'audit.ReadHistory', 'audit.ReadPersonalData')
order by position`}, true},
}

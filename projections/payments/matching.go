package paymentsviews

import (
	_ "embed"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// MatchingName keys the projection's checkpoint and schemas, so it never changes.
const MatchingName = "payments_matching"

// Matching keeps the references by which a paybill payment names its payer (docs/rules/money.md#matching).
type Matching struct{}

// matchingDDL is compiled in from matching.sql.
//
//go:embed matching.sql
var matchingDDL string

// Name keys checkpoint and schemas.
func (Matching) Name() string { return MatchingName }

// Version must grow with every change to the tables or to Apply.
func (Matching) Version() int { return 7 }

// DDL creates the tables of matching.sql.
func (Matching) DDL() string { return matchingDDL }

// TenantTables is empty: only the platform role reads these tables.
func (Matching) TenantTables() []string { return nil }

// Handles lists the events that change the tables.
func (Matching) Handles() []string {
	return []string{
		events.OrganizationCreated{}.EventType(), events.BillingSettingsAdopted{}.EventType(),
		events.InvoicePrefixReleased{}.EventType(),
		events.SubscriberRegistered{}.EventType(), events.SubscriberDetailsCorrected{}.EventType(),
		events.SubscriberForgotten{}.EventType(), events.SubscriptionCreated{}.EventType(),
		events.SubscriptionCredentialsSet{}.EventType(),
		events.InvoiceIssued{}.EventType(), events.InvoiceVoided{}.EventType(),
	}
}

// Apply queues the statements for one event. References are stored in the form in which payments are compared with
// them.
func (Matching) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.OrganizationCreated:
		prefix(w, v.OrgID.String(), v.Billing.InvoicePrefix)
	case events.BillingSettingsAdopted:
		prefix(w, v.OrgID.String(), v.Billing.InvoicePrefix)
	case events.InvoicePrefixReleased: // the next owner of the prefix gives out the same numbers
		w.Exec(`update {schema}.invoices set released = true where org_id = $1 and number_key like $2 || '-%'`,
			v.OrgID, referenceKey(v.Prefix))
	case events.SubscriberRegistered:
		w.Exec(`insert into {schema}.payers (subscriber_id, org_id, account_number, currency, phone)
			values ($1, $2, $3, $4, $5) on conflict (subscriber_id) do nothing`, v.SubscriberID, v.OrgID,
			v.AccountNumber, v.Currency, null.Of(phoneKey(v.Details.Phone.Reveal())))
		addAliases(w, v.SubscriberID, v.Details)
	case events.SubscriberDetailsCorrected:
		w.Exec(`update {schema}.payers set phone = nullif($2, '') where subscriber_id = $1`, v.SubscriberID,
			phoneKey(v.Details.Phone.Reveal()))
		aliases(w, v.SubscriberID, v.Details)
	case events.SubscriberForgotten:
		w.Exec(`delete from {schema}.aliases where subscriber_id = $1`, v.SubscriberID)
		w.Exec(`update {schema}.payers set phone = null where subscriber_id = $1`, v.SubscriberID)
		w.Exec(`update {schema}.usernames set username = null where subscriber_id = $1`, v.SubscriberID)
	case events.SubscriptionCreated:
		w.Exec(`insert into {schema}.usernames (subscription_id, org_id, subscriber_id, username)
			values ($1, $2, $3, nullif($4, '')) on conflict (subscription_id) do nothing`, v.SubscriptionID, v.OrgID,
			v.SubscriberID,
			usernameKey(v.Username.Reveal()))
	case events.SubscriptionCredentialsSet:
		w.Exec(`update {schema}.usernames set username = nullif($2, '') where subscription_id = $1`, v.SubscriptionID,
			usernameKey(v.Username.Reveal()))
	case events.InvoiceIssued:
		w.Exec(`insert into {schema}.invoices (invoice_id, org_id, subscriber_id, number, number_key)
			values ($1, $2, $3, $4, $5) on conflict (invoice_id) do nothing`, v.InvoiceID, v.OrgID, v.SubscriberID,
			v.Number,
			referenceKey(v.Number))
	case events.InvoiceVoided:
		w.Exec(`delete from {schema}.invoices where invoice_id = $1`, v.InvoiceID)
	}
	return nil
}

// aliases queues the old account numbers of a customer, in place of those of before.
func aliases(w *runner.Writes, of id.Subscriber, d events.SubscriberDetails) {
	w.Exec(`delete from {schema}.aliases where subscriber_id = $1`, of)
	addAliases(w, of, d)
}

// addAliases queues those of a payer who has none.
func addAliases(w *runner.Writes, of id.Subscriber, d events.SubscriberDetails) {
	list := append([]string{}, personal.RevealAll(d.AccountAliases)...)
	if len(list) == 0 {
		return
	}
	w.Exec(`insert into {schema}.aliases (subscriber_id, org_id, alias)
		select p.subscriber_id, p.org_id, a.alias from {schema}.payers p, unnest($2::text[]) as a (alias)
		where p.subscriber_id = $1 and a.alias <> '' on conflict do nothing`, of, list)
}

// prefix queues the present invoice prefix of an organization. The ones before are kept for ever: payments still name
// them, also after another organization has taken them.
func prefix(w *runner.Writes, org, text string) {
	w.Exec(`update {schema}.prefixes set present = false where org_id = $1`, org)
	w.Exec(`insert into {schema}.prefixes (org_id, prefix, present) values ($1, $2, true)
		on conflict (org_id, prefix) do update set present = true`, org, referenceKey(text))
}

package paymentsviews

import (
	_ "embed"
	"strings"

	"github.com/jackc/pgx/v5"

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
func (Matching) Version() int { return 8 }

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
		prefix(w, v.OrgID, v.Billing.InvoicePrefix)
	case events.BillingSettingsAdopted:
		prefix(w, v.OrgID, v.Billing.InvoicePrefix)
	case events.InvoicePrefixReleased: // the next owner of the prefix gives out the same numbers
		w.Exec(`update {schema}.invoices set released = true where org_id = $1 and number_key like $2 || '-%'`,
			v.OrgID, referenceKey(v.Prefix))
		w.Exec(`delete from {schema}.prefixes where org_id = $1 and prefix = $2 and not used`, v.OrgID,
			referenceKey(v.Prefix))
	case events.SubscriberRegistered:
		w.Exec(`insert into {schema}.payers (subscriber_id, org_id, account_number, currency, phone)
			values ($1, $2, $3, $4, $5) on conflict (subscriber_id) do nothing`, v.SubscriberID, v.OrgID,
			v.AccountNumber, v.Currency, null.Of(phoneKey(v.Details.Phone.Reveal())))
		addAliases(w, v.SubscriberID, v.Details, e.Position)
	case events.SubscriberDetailsCorrected:
		w.Exec(`update {schema}.payers set phone = nullif($2, '') where subscriber_id = $1`, v.SubscriberID,
			phoneKey(v.Details.Phone.Reveal()))
		w.Exec(`delete from {schema}.aliases where subscriber_id = $1 and alias <> all ($2::text[])`, v.SubscriberID,
			aliasesOf(v.Details))
		addAliases(w, v.SubscriberID, v.Details, e.Position)
	case events.SubscriberForgotten:
		w.Exec(`delete from {schema}.aliases where subscriber_id = $1`, v.SubscriberID)
		w.Exec(`update {schema}.payers set phone = null where subscriber_id = $1`, v.SubscriberID)
		w.Exec(`update {schema}.usernames set username = null where subscriber_id = $1`, v.SubscriberID)
	case events.SubscriptionCreated:
		w.Exec(`insert into {schema}.usernames (subscription_id, org_id, subscriber_id, username, since)
			values ($1, $2, $3, nullif($4, ''), $5) on conflict (subscription_id) do nothing`, v.SubscriptionID,
			v.OrgID, v.SubscriberID, usernameKey(v.Username.Reveal()), e.Position)
	case events.SubscriptionCredentialsSet: // a new password leaves the username as old as it is
		w.Exec(`update {schema}.usernames set username = nullif($2, ''), since = $3
			where subscription_id = $1 and username is distinct from nullif($2, '')`, v.SubscriptionID,
			usernameKey(v.Username.Reveal()), e.Position)
	case events.InvoiceIssued:
		issued(w, v, e.Position)
	case events.InvoiceVoided:
		w.Exec(`delete from {schema}.invoices where invoice_id = $1`, v.InvoiceID)
	}
	return nil
}

// issued queues the number of an invoice. From its first number on the prefix counts.
func issued(w *runner.Writes, v events.InvoiceIssued, position uint64) {
	key := referenceKey(v.Number)
	w.Exec(`insert into {schema}.invoices (invoice_id, org_id, subscriber_id, number, number_key, since)
		values (@invoice, @org, @subscriber, @number, @key, @since) on conflict (invoice_id) do nothing`, pgx.NamedArgs{
		"invoice": v.InvoiceID, "org": v.OrgID, "subscriber": v.SubscriberID, "number": v.Number, "key": key,
		"since": position,
	})
	prefix, _, _ := strings.Cut(key, "-")
	w.Exec(`update {schema}.prefixes set used = true where org_id = $1 and prefix = $2 and not used`, v.OrgID, prefix)
}

// aliasesOf are the old account numbers of a customer; never nil.
func aliasesOf(d events.SubscriberDetails) []string {
	return append([]string{}, personal.RevealAll(d.AccountAliases)...)
}

// addAliases queues the old account numbers that a customer does not have yet.
func addAliases(w *runner.Writes, of id.Subscriber, d events.SubscriberDetails, position uint64) {
	list := aliasesOf(d)
	if len(list) == 0 {
		return
	}
	w.Exec(`insert into {schema}.aliases (subscriber_id, org_id, alias, since)
		select p.subscriber_id, p.org_id, a.alias, $3::bigint from {schema}.payers p, unnest($2::text[]) as a (alias)
		where p.subscriber_id = $1 and a.alias <> '' on conflict do nothing`, of, list, position)
}

// prefix queues the present invoice prefix of an organization. One of before remains for ever once an invoice was
// issued with it: payments still name it, also after another organization has taken it. One that was never used goes.
func prefix(w *runner.Writes, org id.Organization, text string) {
	key := referenceKey(text)
	w.Exec(`delete from {schema}.prefixes where org_id = $1 and prefix <> $2 and not used`, org, key)
	w.Exec(`update {schema}.prefixes set present = false where org_id = $1 and prefix <> $2 and present`, org, key)
	w.Exec(`insert into {schema}.prefixes (org_id, prefix, present, used) values ($1, $2, true, false)
		on conflict (org_id, prefix) do update set present = true`, org, key)
}

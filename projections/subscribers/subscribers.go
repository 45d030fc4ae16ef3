// Package subscribersviews has the read models of subscribers, plans and subscriptions, the subscriber's timeline, and
// the access computed from them.
package subscribersviews

import (
	_ "embed"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// SubscribersName keys the projection's checkpoint and schemas, so it never changes.
const SubscribersName = "subscribers_subscribers"

// Subscribers lists customers with their balances and services, and finds them by name, phone, e-mail address and
// account number.
type Subscribers struct{}

// subscribersDDL is compiled in from subscribers.sql.
//
//go:embed subscribers.sql
var subscribersDDL string

// Name keys checkpoint and schemas.
func (Subscribers) Name() string { return SubscribersName }

// Version must grow with every change to the tables or to Apply.
func (Subscribers) Version() int { return 16 }

// DDL creates the tables of subscribers.sql.
func (Subscribers) DDL() string { return subscribersDDL }

// TenantTables are under row-level security.
func (Subscribers) TenantTables() []string {
	return []string{"subscribers", "terms", "tags", "services"}
}

// Handles lists the events that change the tables.
func (Subscribers) Handles() []string {
	types := append(serviceEvents(),
		events.SubscriberRegistered{}.EventType(), events.SubscriberDetailsCorrected{}.EventType(),
		events.SubscriberBlocked{}.EventType(), events.SubscriberUnblocked{}.EventType(),
		events.SubscriberForgotten{}.EventType(),
	)
	for _, e := range events.BalanceChanges() {
		types = append(types, e.EventType())
	}
	return types
}

// SQL of a new customer. Rows of values alone, so that those of many are one statement.
const (
	registerSQL = `
insert into {schema}.subscribers
	(subscriber_id, org_id, account_number, status, currency, created_at, import_row, first_name, last_name, phone,
	email, address, notes, latitude, longitude, external_ref, tax_pin, language, only_needed, whatsapp, revision,
	name_key, second_phone, message_second)
values (@subscriber, @org, @account, 'active', @currency, @at, @import_row, @first_name, @last_name, @phone,
	@email, @address, @notes, @latitude, @longitude, @external_ref, @tax_pin, @language, @only_needed, @whatsapp,
	@revision, @name_key, @second_phone, @message_second)
on conflict (subscriber_id) do nothing`
	termSQL = `insert into {schema}.terms (org_id, term, subscriber_id) values ($1, $2, $3) on conflict do nothing`
	tagSQL  = `insert into {schema}.tags (org_id, tag, subscriber_id) values ($1, $2, $3) on conflict do nothing`
	// listsSQL fills what few customers have, and what would hold every row of the others back.
	listsSQL = `update {schema}.subscribers set tags = $2, account_aliases = $3 where subscriber_id = $1`
)

// blockSQL begins or ends a block.
const blockSQL = `update {schema}.subscribers set status = $2, blocked = $3, revision = $4 where subscriber_id = $1`

// Apply queues the statements for one event; the same event again changes nothing.
func (Subscribers) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.SubscriberRegistered:
		register(w, v, int64(e.Revision))
	case events.SubscriberDetailsCorrected:
		writeDetails(w, v.SubscriberID, v.Details, int64(e.Revision))
	case events.SubscriberBlocked:
		w.Exec(blockSQL, v.SubscriberID, "blocked", true, int64(e.Revision))
		w.Exec(sumSQL, v.SubscriberID)
	case events.SubscriberUnblocked:
		w.Exec(blockSQL, v.SubscriberID, "active", false, int64(e.Revision))
		w.Exec(sumSQL, v.SubscriberID)
	case events.SubscriberForgotten:
		forget(w, v.SubscriberID, int64(e.Revision))
	case events.SubscriptionEvent, events.DunningEvent, events.UsageEvent:
		serve(w, v)
	default:
		if subscriber, amount := events.BalanceChange(v); !subscriber.IsZero() {
			owe(w, subscriber, amount, e.Position)
		}
	}
	return nil
}

// register queues the row, the terms and the tags of a new customer.
func register(w *runner.Writes, v events.SubscriberRegistered, revision int64) {
	row := detailsOf(v.SubscriberID, v.Details, revision)
	row["org"], row["account"], row["currency"] = v.OrgID, v.AccountNumber, string(v.Currency)
	row["at"], row["import_row"] = v.RegisteredAt, v.ImportRow.Reveal()
	w.Exec(registerSQL, row)
	for _, term := range append([]string{v.AccountNumber}, termsOf(v.Details)...) {
		w.Exec(termSQL, v.OrgID, term, v.SubscriberID)
	}
	tags, aliases := tagsOf(v.Details), aliasesOf(v.Details)
	for _, tag := range tags {
		w.Exec(tagSQL, v.OrgID, tag, v.SubscriberID)
	}
	if len(tags)+len(aliases) > 0 {
		w.Exec(listsSQL, v.SubscriberID, tags, aliases)
	}
}

// detailsSQL replaces the columns that an operator may correct.
const detailsSQL = `
update {schema}.subscribers set
	first_name = @first_name, last_name = @last_name, phone = @phone, email = @email, address = @address,
	notes = @notes, latitude = @latitude, longitude = @longitude, tags = @tags, external_ref = @external_ref,
	tax_pin = @tax_pin, account_aliases = @aliases, language = @language, only_needed = @only_needed,
	whatsapp = @whatsapp, revision = @revision, name_key = @name_key, second_phone = @second_phone,
	message_second = @message_second
where subscriber_id = @subscriber`

// detailsOf gives the columns that an operator may correct, but for the lists.
func detailsOf(subscriber id.Subscriber, d events.SubscriberDetails, revision int64) pgx.NamedArgs {
	var latitude, longitude *float64
	if place := d.Place(); place != nil {
		latitude, longitude = &place.Latitude, &place.Longitude
	}
	return pgx.NamedArgs{
		"subscriber": subscriber, "first_name": d.FirstName.Reveal(), "last_name": d.LastName.Reveal(),
		"phone": d.Phone.Reveal(), "email": d.Email.Reveal(), "address": d.Address.Reveal(), "notes": d.Notes.Reveal(),
		"latitude": latitude, "longitude": longitude, "external_ref": d.ExternalRef.Reveal(),
		"tax_pin": d.TaxPIN.Reveal(), "revision": revision, "name_key": nameKey(d),
		"language": null.Of(d.Language), "only_needed": d.OnlyNeeded, "whatsapp": d.WhatsApp,
		"second_phone": d.SecondPhone.Reveal(), "message_second": d.MessageSecond,
	}
}

// writeDetails replaces the columns that an operator may correct, and the terms and tags that find the subscriber.
func writeDetails(w *runner.Writes, subscriber id.Subscriber, d events.SubscriberDetails, revision int64) {
	row := detailsOf(subscriber, d, revision)
	row["tags"], row["aliases"] = tagsOf(d), aliasesOf(d)
	w.Exec(detailsSQL, row)
	w.Exec(`delete from {schema}.terms t using {schema}.subscribers s
		where t.subscriber_id = $1 and s.subscriber_id = $1 and t.term <> s.account_number`, subscriber)
	w.Exec(`insert into {schema}.terms (org_id, term, subscriber_id)
		select s.org_id, t.term, s.subscriber_id from {schema}.subscribers s, unnest($2::text[]) as t (term)
		where s.subscriber_id = $1 on conflict do nothing`, subscriber, termsOf(d))
	w.Exec(`delete from {schema}.tags where subscriber_id = $1`, subscriber)
	w.Exec(`insert into {schema}.tags (org_id, tag, subscriber_id)
		select s.org_id, t.tag, s.subscriber_id from {schema}.subscribers s, unnest($2::text[]) as t (tag)
		where s.subscriber_id = $1 on conflict do nothing`, subscriber, tagsOf(d))
}

// forget erases the person's data and search terms (docs/rules/engine.md#personal-fields). The account number stays,
// because invoices and payments need it.
func forget(w *runner.Writes, subscriber id.Subscriber, revision int64) {
	w.Exec(`update {schema}.subscribers set
			first_name = null, last_name = null, phone = null, email = null, address = null, notes = null,
			latitude = null, longitude = null, tags = '{}', external_ref = '', tax_pin = '', account_aliases = '{}',
			language = null, only_needed = false, whatsapp = false, import_row = '', status = 'forgotten',
			second_phone = '', message_second = false,
			revision = $2, name_key = $3
		where subscriber_id = $1`, subscriber, revision, afterNames)
	w.Exec(`update {schema}.services set username = null where subscriber_id = $1`, subscriber)
	w.Exec(`delete from {schema}.terms t using {schema}.subscribers s
		where t.subscriber_id = $1 and s.subscriber_id = $1 and t.term <> s.account_number`, subscriber)
	w.Exec(`delete from {schema}.tags where subscriber_id = $1`, subscriber)
}

// owe adds to the balance. The position of the event guards it, so that an event applied again adds nothing.
func owe(w *runner.Writes, subscriber id.Subscriber, amount money.Amount, position uint64) {
	w.Exec(`update {schema}.subscribers set balance_minor = balance_minor + $2, account_position = $3
		where subscriber_id = $1 and account_position < $3`, subscriber, amount.Minor, int64(position))
}

// tagsOf are the revealed tags; the list is never nil, since the column is not null. Erased tags are left out.
func tagsOf(d events.SubscriberDetails) []string { return personal.RevealAll(d.Tags) }

// aliasesOf are the revealed old account numbers; the list is never nil.
func aliasesOf(d events.SubscriberDetails) []string {
	return append([]string{}, personal.RevealAll(d.AccountAliases)...)
}

// afterNames is in byte order behind every name: a forgotten customer is the last of a list by name.
const afterNames = "\U0010FFFF"

// nameKey is the name in small letters, by which lists are sorted.
func nameKey(d events.SubscriberDetails) string {
	return searchterm.Cut(strings.ToLower(strings.TrimSpace(d.FirstName.Reveal() + " " + d.LastName.Reveal())))
}

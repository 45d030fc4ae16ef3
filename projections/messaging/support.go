package messagingviews

import (
	_ "embed"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// SupportName keys the projection's checkpoint and schemas, so it never changes.
const SupportName = "messaging_support"

// Support has the support requests of customers with all that was written.
type Support struct{}

// supportDDL is compiled in from support.sql.
//
//go:embed support.sql
var supportDDL string

// Name keys checkpoint and schemas.
func (Support) Name() string { return SupportName }

// Version must grow with every change to the tables or to Apply.
func (Support) Version() int { return 1 }

// DDL creates the tables of support.sql.
func (Support) DDL() string { return supportDDL }

// TenantTables are under row-level security.
func (Support) TenantTables() []string { return []string{"requests", "texts"} }

// Handles lists the events that change the tables.
func (Support) Handles() []string {
	return []string{
		events.SupportRequestOpened{}.EventType(), events.SupportRequestContinued{}.EventType(),
		events.SupportRequestAnswered{}.EventType(), events.SupportRequestNoted{}.EventType(),
		events.SupportRequestAssigned{}.EventType(), events.SupportRequestClosed{}.EventType(),
		events.SubscriberForgotten{}.EventType(),
	}
}

// Statements of Apply. An event that was applied before changes nothing.
const (
	supportOpenedSQL = `
insert into {schema}.requests
	(request_id, org_id, subscriber_id, subject, state, opened_at, last_at, waiting_since, revision)
values (@request, @org, @subscriber, @subject, 'open', @at, @at, @at, @revision)
on conflict (request_id) do nothing`
	supportTextSQL = `
insert into {schema}.texts (request_id, number, org_id, subscriber_id, at, by_customer, internal, user_id, text)
values (@request, @number, @org, @subscriber, @at, @customer, @internal, @user, @text)
on conflict (request_id, number) do nothing`
	// A customer who writes twice waits since the first time.
	supportContinuedSQL = `
update {schema}.requests set state = 'open', last_at = $3, waiting_since = coalesce(waiting_since, $3),
	closed_at = null, revision = $2
where request_id = $1 and revision < $2`
	supportAnsweredSQL = `
update {schema}.requests set state = 'answered', last_at = $3, waiting_since = null, closed_at = null, revision = $2
where request_id = $1 and revision < $2`
	supportNotedSQL    = `update {schema}.requests set revision = $2 where request_id = $1 and revision < $2`
	supportAssignedSQL = `
update {schema}.requests set assignee = $3, revision = $2 where request_id = $1 and revision < $2`
	supportClosedSQL = `
update {schema}.requests set state = 'closed', closed_at = $3, waiting_since = null, revision = $2
where request_id = $1 and revision < $2`
	// A forgotten person waits for nothing any more.
	supportForgetSQL = `
update {schema}.requests set subject = null, waiting_since = null where subscriber_id = $1`
	supportForgetTextsSQL = `update {schema}.texts set text = null where subscriber_id = $1`
)

// Apply queues the statements for one event.
func (Support) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // fits
	switch v := e.Event.(type) {
	case events.SupportRequestOpened:
		w.Exec(supportOpenedSQL, pgx.NamedArgs{
			"request": v.RequestID, "org": v.OrgID, "subscriber": v.SubscriberID, "subject": known(v.Subject),
			"at": v.At, "revision": revision,
		})
		supportText{about: v.SupportSubject, number: 1, text: v.Text, at: v.At, customer: v.ByCustomer}.write(w, e)
	case events.SupportRequestContinued:
		w.Exec(supportContinuedSQL, v.RequestID, revision, v.At)
		supportText{about: v.SupportSubject, number: v.Number, text: v.Text, at: v.At, customer: true}.write(w, e)
	case events.SupportRequestAnswered:
		w.Exec(supportAnsweredSQL, v.RequestID, revision, v.At)
		supportText{about: v.SupportSubject, number: v.Number, text: v.Text, at: v.At}.write(w, e)
	case events.SupportRequestNoted:
		w.Exec(supportNotedSQL, v.RequestID, revision)
		supportText{about: v.SupportSubject, number: v.Number, text: v.Text, at: v.At, internal: true}.write(w, e)
	case events.SupportRequestAssigned:
		w.Exec(supportAssignedSQL, v.RequestID, revision, v.UserID)
	case events.SupportRequestClosed:
		w.Exec(supportClosedSQL, v.RequestID, revision, v.At)
	case events.SubscriberForgotten:
		w.Exec(supportForgetSQL, v.SubscriberID)
		w.Exec(supportForgetTextsSQL, v.SubscriberID)
	}
	return nil
}

// supportText is one text of a request.
type supportText struct {
	about    events.SupportSubject
	number   int
	text     personal.Text
	at       time.Time
	customer bool
	internal bool
}

// write queues the row of a text, with the user who wrote it.
func (t supportText) write(w *runner.Writes, e events.Envelope) {
	var by id.User
	if e.Meta.Actor.Kind == events.ActorUser {
		by, _ = id.Parse[id.User](e.Meta.Actor.ID) // zero for what is no user's id
	}
	w.Exec(supportTextSQL, pgx.NamedArgs{
		"request": t.about.RequestID, "number": t.number, "org": t.about.OrgID, "subscriber": t.about.SubscriberID,
		"at": t.at, "customer": t.customer, "internal": t.internal, "user": by, "text": known(t.text),
	})
}

// known is nil for a text of somebody who was forgotten.
func known(t personal.Text) *string {
	if t.Erased() {
		return nil
	}
	text := t.Reveal()
	return &text
}

package auditviews_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/audit"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// What a person does to an invoice is found by the invoice, though the account decides about it.
func TestLog_VoidAndCreditNoteAreAboutTheInvoice(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	tables, err := runner.NewScratch(t.Context(), db, auditviews.Log{}, "target")
	if err != nil {
		t.Fatal(err)
	}
	one, two := id.New[id.Invoice](), id.New[id.Invoice]()
	org, subscriber := id.New[id.Organization](), id.New[id.Subscriber]()
	story := projectiontest.NewStory(org, time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)).
		Add("account-1", events.InvoiceVoided{SubscriberID: subscriber, InvoiceID: one, Number: "ACME-0001"}).
		Add("account-2", events.CreditNoteDrafted{SubscriberID: subscriber, OrgID: org, InvoiceID: two})
	if err := tables.Apply(t.Context(), story.Events()); err != nil {
		t.Fatal(err)
	}
	dump := projectiontest.Dump(t, db, tables.Schema())
	for _, invoice := range []id.Invoice{one, two} {
		if !strings.Contains(dump, `"target_type":"invoice","target_id":"`+invoice.String()) {
			t.Errorf("no entry about %s in\n%s", invoice, dump)
		}
	}
}

// TestLog_AChangeOfASessionThatCameToNothingIsNoWriteToItsRouter beside one that was made, and one that names the
// session itself, as it is recorded under its place.
func TestLog_AChangeOfASessionThatCameToNothingIsNoWriteToItsRouter(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	tables, err := runner.NewScratch(t.Context(), db, auditviews.Log{}, "lapsed")
	if err != nil {
		t.Fatal(err)
	}
	org := id.New[id.Organization]()
	session := func() events.EnforcedSession {
		return events.EnforcedSession{SessionID: id.New[id.Online](), OrgID: org, DeviceID: id.New[id.Device]()}
	}
	lapsed := events.SessionChanged{EnforcedSession: session(), Found: true, Lapsed: true}
	made := events.SessionChanged{EnforcedSession: session(), Via: events.ViaRadius}
	placed := events.SessionChanged{EnforcedSession: session(), Via: events.ViaRadius}
	placed.Shown = id.New[id.Online]()
	story := projectiontest.NewStory(org, time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)).
		Add("enforcement-1", lapsed).Add("enforcement-2", made).Add("enforcement-3", placed)
	if err := tables.Apply(t.Context(), story.Events()); err != nil {
		t.Fatal(err)
	}
	dump := projectiontest.Dump(t, db, tables.Schema())
	if strings.Contains(dump, lapsed.SessionID.String()) || !strings.Contains(dump, made.SessionID.String()) ||
		!strings.Contains(dump, placed.Shown.String()) {
		t.Errorf("writes in\n%s", dump)
	}
}

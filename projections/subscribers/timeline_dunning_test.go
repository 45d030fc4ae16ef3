package subscribersviews_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

func TestTimeline_TellsWhatWasOwedAtEachStepOfDunning(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	tables, err := runner.NewScratch(t.Context(), db, subscribersviews.Timeline{}, "dunning")
	if err != nil {
		t.Fatal(err)
	}
	about := events.DunningSubject{SubscriptionID: line, OrgID: acme, SubscriberID: amina}
	step := func(major int64, invoices ...id.Invoice) events.DunningStep {
		return events.DunningStep{Due: kes(major), InvoiceIDs: invoices, At: began}
	}
	story := projectiontest.NewStory(acme, began).
		Add("account-1", events.InvoiceIssued{SubscriberID: amina, OrgID: acme, InvoiceID: inv1, Number: "ACME-0001"}).
		Add("dunning-1",
			events.DunningBegan{DunningSubject: about, DunningStep: step(0)},
			events.WalledGardenEntered{DunningSubject: about, DunningStep: step(1500, inv1)},
			events.ServiceSuspended{DunningSubject: about, DunningStep: step(1500, inv1, inv2)},
			events.WriteOffProposed{DunningSubject: about, DunningStep: events.DunningStep{
				Before: events.DunningSuspended, Due: kes(700), InvoiceIDs: []id.Invoice{inv1},
			}},
			events.WriteOffProposed{DunningSubject: about, DunningStep: step(0, inv2, inv1, inv3)},
			events.DunningClockStopped{DunningSubject: about, Cause: "no_line:1", From: began, At: began},
			events.DunningClockStarted{
				DunningSubject: about, Cause: "no_line:1", From: began, Until: began, At: began,
			},
			events.ServiceSuspended{DunningSubject: about, DunningStep: events.DunningStep{
				Before: events.DunningWrittenOff, Due: kes(1500),
			}},
			events.DunningClockStarted{
				DunningSubject: about, Cause: "no_payment:2", From: began, Until: began.Add(time.Hour), At: began,
			},
			events.DunningClockStopped{DunningSubject: about, Cause: events.ClockPaused, From: began, At: began},
			events.DunningBegan{DunningSubject: about, DunningStep: events.DunningStep{
				Before: events.DunningSuspended, Due: kes(700),
			}},
			events.DunningEnded{DunningSubject: about, Before: events.DunningSuspended, At: began})
	if err := tables.Apply(t.Context(), story.Events()); err != nil {
		t.Fatal(err)
	}
	dump := spokenRows(t, db, tables.Schema())
	for _, want := range []string{
		"The customer is reminded from now on. Owed: the next period.",
		"Not paid in time: KES 1500.00 of invoice ACME-0001. The customer reaches only the payment page.",
		"Still not paid: KES 1500.00 of invoice ACME-0001 and 1 other. The customer has no access any more.",
		"No write-off is proposed any more. Still not paid: KES 1500.00. The customer has no access.",
		"A debt so old that it was proposed for a write-off: KES 700.00 of invoice ACME-0001.\n",
		"A debt so old that it was proposed for a write-off: an invoice and 2 others. The customer has no access any " +
			"more.",
		"The clock of dunning stands still since 2 Mar 2026 09:00: no line.",
		"its stop since 2 Mar 2026 09:00 (no line) was taken back.",
		"The clock of dunning stood still from ",
		"The clock of dunning stands still since 2 Mar 2026 09:00: paused.",
		"The cut was ended. Still owed: KES 700.00.", // who is blocked or paused has no access all the same
		"Nothing is overdue any more: the cut was ended.",
	} {
		if !strings.Contains(dump, want) {
			t.Errorf("nothing says %q:\n%s", want, dump)
		}
	}
}

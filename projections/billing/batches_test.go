package billingviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// A run makes two invoices and is taken back, of which one is blocked; a compensation is given to one customer of two.
func TestBatches_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	run, compensation := id.Derive[id.BillingRun]("test", "run"), id.Derive[id.Compensation]("test", "compensation")
	batch, day := id.As[id.Batch](run), calendar.Date{Year: 2026, Month: time.March, Day: 2}
	drafted := func(n int) events.InvoiceDrafted {
		return events.InvoiceDrafted{
			SubscriberID: amina, OrgID: acme, InvoiceID: invoiceID(n), SubscriptionID: line(n),
			Total: money.Major(1500, money.KES),
		}
	}
	s := projectiontest.NewStory(acme, began)
	for _, e := range []events.Event{
		events.BillingRunRequested{RunID: run, OrgID: acme, Date: day, At: began},
		events.BillingRunHeld{RunID: run, OrgID: acme, Due: 2, At: began},
		events.BillingRunReleased{RunID: run, OrgID: acme, Reason: "it is right", At: began},
		events.BillingRunBegan{RunID: run, OrgID: acme, Due: 2, At: began},
		due(1, 1, time.Time{}, run), drafted(1), due(2, 2, time.Time{}, run), drafted(2),
		due(3, 3, time.Time{}, id.BillingRun{}), drafted(3), // by no run
		events.BillingRunFinished{RunID: run, OrgID: acme, Date: day, Failed: 1, At: began},
		events.BatchUndoAsked{
			BatchID: batch, OrgID: acme, Kind: events.BatchRun, Round: 1, Reason: "wrong price", At: began,
		},
		events.BatchUndoPartDone{
			BatchID: batch, OrgID: acme, Kind: events.BatchRun, Round: 1, At: began, Items: []events.BatchUndoItem{
				{ItemID: id.As[id.Any](invoiceID(1)), Outcome: events.ItemUndone},
				{ItemID: id.As[id.Any](invoiceID(2)), Outcome: events.ItemBlocked, Code: "later_period_billed"},
			},
		},
		events.BatchUndoFinished{
			BatchID: batch, OrgID: acme, Kind: events.BatchRun, Round: 1, Undone: 1, Blocked: 1,
			At: began.Add(time.Minute),
		},
		events.CompensationPreviewed{
			CompensationID: compensation, OrgID: acme, Reason: "storm", Subscriptions: 2, Parts: 1, At: began,
		},
		events.CompensationListed{CompensationID: compensation, OrgID: acme, Items: []events.CompensationItem{
			{SubscriptionID: line(1), SubscriberID: amina, Days: 2},
			{SubscriptionID: line(2), SubscriberID: amina, Code: "nothing_to_compensate"},
		}},
		events.CompensationApplied{CompensationID: compensation, OrgID: acme, Parts: 1, At: began},
		events.SubscriptionCompensated{
			SubscriptionID: line(1), SubscriberID: amina, CompensationID: compensation, Days: 2, At: began,
		},
		events.CompensationFinished{CompensationID: compensation, OrgID: acme, Given: 1, Refused: 1, At: began},
	} {
		s.Add("batch-story", e)
	}
	projectiontest.Check(t, billingviews.Batches{}, s)
}

// Cuts are held and released, and messages are held; what happened on a day is counted apart.
func TestFuses_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	day := calendar.Date{Year: 2026, Month: time.March, Day: 2}
	of := func(kind string) id.Fuse { return id.Derive[id.Fuse]("test", kind) }
	held := func(kind string) events.FuseHeld {
		return events.FuseHeld{FuseID: of(kind), OrgID: acme, Kind: kind, Date: day, Count: 90, Usual: 4, At: began}
	}
	subject := events.DunningSubject{SubscriptionID: line(1), OrgID: acme, SubscriberID: amina}
	s := projectiontest.NewStory(acme, began)
	for _, e := range []events.Event{
		events.WalledGardenEntered{DunningSubject: subject}, events.ServiceSuspended{DunningSubject: subject},
		events.MessageSent{}, held(events.FuseCuts), held(events.FuseMessages),
		events.FuseReleased{
			FuseID: of(events.FuseCuts), OrgID: acme, Kind: events.FuseCuts, Date: day, Reason: "a holiday is over",
			At: began.Add(time.Hour),
		},
	} {
		s.Add("fuse-story", e)
	}
	projectiontest.Check(t, billingviews.Fuses{}, s)
}

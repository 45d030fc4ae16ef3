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

// A run makes two invoices and is taken back, of which one is blocked, and is asked for again; a compensation is given
// to one customer of two.
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
	given, note := creditedBy(compensation, 3)
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
		events.BillingRunRequested{RunID: run, OrgID: acme, Date: day, At: began.Add(time.Hour)},
		due(4, 4, time.Time{}, run), drafted(4),
		events.BillingRunFinished{RunID: run, OrgID: acme, Date: day, At: began.Add(time.Hour)},
		events.CompensationPreviewed{
			CompensationID: compensation, OrgID: acme, Reason: "storm", Subscriptions: 2, Parts: 1, At: began,
		},
		events.CompensationListed{CompensationID: compensation, OrgID: acme, Items: []events.CompensationItem{
			{SubscriptionID: line(1), SubscriberID: amina, Days: 2},
			{SubscriptionID: line(2), SubscriberID: amina, Code: "nothing_to_compensate"},
			{SubscriptionID: line(3), SubscriberID: amina, Amount: money.Major(50, money.KES)},
		}},
		events.CompensationApplied{CompensationID: compensation, OrgID: acme, Parts: 1, At: began},
		events.SubscriptionCompensated{
			SubscriptionID: line(1), SubscriberID: amina, CompensationID: compensation, Days: 2, At: began,
		},
		given, note,
		events.CompensationFinished{CompensationID: compensation, OrgID: acme, Given: 1, Refused: 1, At: began},
	} {
		s.Add("batch-story", e)
	}
	projectiontest.Check(t, billingviews.Batches{}, s)
}

// creditedBy gives a subscription money on its invoice, by a credit note that is smaller than its item.
func creditedBy(of id.Compensation, n int) (events.SubscriptionCompensated, events.CreditNoteDrafted) {
	return events.SubscriptionCompensated{
			SubscriptionID: line(n), SubscriberID: amina, CompensationID: of, At: began,
			Credits: []events.DaysCredit{{InvoiceID: invoiceID(n), Days: 1, Of: 30}},
		}, events.CreditNoteDrafted{
			SubscriberID: amina, OrgID: acme, InvoiceID: invoiceID(n), Amount: money.Major(40, money.KES),
			CreditNoteID: events.CompensationNote(of, invoiceID(n), line(n)),
		}
}

// After an undo and a second run of the same day, counts and sums are those of what stands, and who asked first stays.
func TestBatches_CountAndSumUpWhatStands(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	run := id.Derive[id.BillingRun]("test", "run")
	batch, day := id.As[id.Batch](run), calendar.Date{Year: 2026, Month: time.March, Day: 2}
	asked := events.BillingRunRequested{RunID: run, OrgID: acme, Date: day}
	k.tell(t, acme, asked, due(1, 1, time.Time{}, run), drafted(1, amina, 150000, 1, 10),
		due(2, 2, time.Time{}, run), drafted(2, amina, 150000, 1, 10),
		events.BillingRunFinished{RunID: run, OrgID: acme, Date: day},
		events.BatchUndoAsked{BatchID: batch, OrgID: acme, Kind: events.BatchRun, Round: 1, Reason: "wrong price"},
		events.BatchUndoPartDone{
			BatchID: batch, OrgID: acme, Kind: events.BatchRun, Round: 1, Items: []events.BatchUndoItem{
				{ItemID: id.As[id.Any](invoiceID(1)), Outcome: events.ItemUndone},
				{ItemID: id.As[id.Any](invoiceID(2)), Outcome: events.ItemCredited},
			},
		},
		events.BatchUndoFinished{BatchID: batch, OrgID: acme, Kind: events.BatchRun, Round: 1, Undone: 2})
	q := billingviews.BatchesQuery{Views: k.runner.Views()}
	back, err := q.Get(t.Context(), acme, batch)
	if err != nil || back.Made != 2 || back.Stands != 0 || back.AmountMinor != 0 || back.AgainAt != nil {
		t.Fatalf("taken back: %+v, %v", back, err)
	}
	k.tell(t, acme, asked, due(3, 3, time.Time{}, run), drafted(3, amina, 150000, 1, 10))
	again, err := q.Get(t.Context(), acme, batch)
	if err != nil || again.Made != 3 || again.Stands != 1 || again.AmountMinor != 150000 ||
		!again.AskedAt.Equal(back.AskedAt) || again.AgainAt == nil {
		t.Errorf("billed again: %+v, %v", again, err)
	}
}

// A batch that was asked for goes on until it is finished, and its undo too; each item and each part of it is a step.
func TestBatches_ThoseThatStandStillAreFound(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	run := id.Derive[id.BillingRun]("test", "run")
	batch, day := id.As[id.Batch](run), calendar.Date{Year: 2026, Month: time.March, Day: 2}
	q := billingviews.BatchesQuery{Views: k.runner.Views()}
	still := func(org id.Organization, since time.Time) []billingviews.StillBatch {
		t.Helper()
		list, err := q.Still(t.Context(), org, since, 3)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	later := time.Now().AddDate(100, 0, 0)
	k.tell(t, acme, events.BillingRunRequested{RunID: run, OrgID: acme, Date: day}, due(1, 1, time.Time{}, run))
	found := still(acme, later)
	if len(found) != 1 || found[0].ID != batch || found[0].Title != "2026-03-02" {
		t.Fatalf("a run that does not go on: %+v", found)
	}
	if len(still(acme, found[0].Since)) > 0 || len(still(id.Derive[id.Organization]("test", "beta"), later)) > 0 {
		t.Error("one that has just moved, or one of another organization, stands still")
	}
	k.tell(t, acme, events.BillingRunFinished{RunID: run, OrgID: acme, Date: day})
	if found := still(acme, later); len(found) > 0 {
		t.Errorf("a finished run: %+v", found)
	}
	k.tell(t, acme, events.BatchUndoAsked{BatchID: batch, OrgID: acme, Kind: events.BatchRun, Round: 1, Reason: "no"})
	if found := still(acme, later); len(found) != 1 {
		t.Errorf("an undo that does not go on: %+v", found)
	}
	k.tell(t, acme, events.BatchUndoFinished{BatchID: batch, OrgID: acme, Kind: events.BatchRun, Round: 1})
	if found := still(acme, later); len(found) > 0 {
		t.Errorf("a finished undo: %+v", found)
	}
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

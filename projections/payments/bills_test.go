package paymentsviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// billStory has a bill in each state. The organization has left the bill manager.
func billStory() *projectiontest.Story {
	s := projectiontest.NewStory(acme, began)
	s.Add("billmanager-acme",
		events.BillManagerConfigured{OrgID: acme, On: true, Reminders: true, At: began},
		events.BillManagerConfigured{OrgID: acme, Reminders: true, Left: true, At: began})
	bill := func(name string, of id.Subscriber, list func(events.BillSubject) []events.Event) {
		subject := events.BillSubject{
			OrgID: acme, SubscriberID: of, InvoiceID: id.Derive[id.Invoice]("bill", name), Number: "ACME-" + name,
		}
		s.Add("bill-"+name, append([]events.Event{events.BillQueued{BillSubject: subject, At: began}},
			list(subject)...)...)
	}
	offered := func(b events.BillSubject, try int) events.Event {
		return events.BillOffered{
			BillSubject: b, Reference: b.Number, Try: try, Size: 2, Amount: kes(1500), At: began,
		}
	}
	sent := func(b events.BillSubject) []events.Event {
		return []events.Event{offered(b, 1), events.BillSent{BillSubject: b, Reference: b.Number, At: began}}
	}
	paid := func(b events.BillSubject) events.Event {
		return events.BillPaid{
			BillSubject: b, ReceiptID: receipt("B" + b.Number), ReceiptNumber: "B", Amount: kes(1500), PaidAt: began,
			At: began,
		}
	}
	settled := func(b events.BillSubject) events.Event { return events.BillSettled{BillSubject: b, At: began} }
	bill("waits", amina, func(events.BillSubject) []events.Event { return nil })
	bill("unsigned", amina, func(b events.BillSubject) []events.Event { return signing(b)[:1] })
	bill("signed", amina, signing)
	bill("doubt", amina, func(b events.BillSubject) []events.Event {
		return []events.Event{offered(b, 1), events.BillFreed{BillSubject: b, Doubted: true, At: began}, offered(b, 2)}
	})
	bill("sent", amina, sent)
	bill("failed", brian, func(b events.BillSubject) []events.Event {
		return []events.Event{events.BillFailed{
			BillSubject: b, Code: "400", Message: personal.Of("no phone 0700"), At: began,
		}}
	})
	bill("leaving", amina, func(b events.BillSubject) []events.Event { return append(sent(b), recalls(b)...) })
	bill("delayed", amina, func(b events.BillSubject) []events.Event { return append(sent(b), delays(b)...) })
	bill("gone", amina, func(b events.BillSubject) []events.Event {
		return append(sent(b), events.BillCancelled{BillSubject: b, Reason: "voided", At: began})
	})
	bill("elsewhere", amina, func(b events.BillSubject) []events.Event { return append(sent(b), settled(b)) })
	bill("paid", amina, func(b events.BillSubject) []events.Event { return append(sent(b), paid(b), settled(b)) })
	bill("known", amina, func(b events.BillSubject) []events.Event {
		return append(sent(b), paid(b), settled(b), events.BillAcknowledged{
			BillSubject: b, ReceiptID: receipt("B" + b.Number), Amount: kes(1500), At: began,
		})
	})
	bill("again", amina, func(b events.BillSubject) []events.Event {
		return append(sent(b), paid(b), settled(b), events.BillReopened{BillSubject: b, At: began},
			events.BillFreed{BillSubject: b, Reference: b.Number, At: began},
			events.BillQueued{BillSubject: b, Round: 1, At: began.Add(time.Hour)})
	})
	s.Add("subscriber-brian", events.SubscriberForgotten{SubscriberID: brian})
	return s
}

// recalls takes a bill back for another sum, and then for good.
func recalls(b events.BillSubject) []events.Event {
	return []events.Event{
		events.BillRecalled{BillSubject: b, Reason: "changed", At: began},
		events.BillRecalled{BillSubject: b, Reason: "voided", At: began},
	}
}

// delays takes a bill back, and is looked at again in an hour.
func delays(b events.BillSubject) []events.Event {
	return []events.Event{
		events.BillRecalled{BillSubject: b, Reason: "voided", At: began},
		events.BillDelayed{BillSubject: b, Until: began.Add(time.Hour), Doubted: true, At: began},
	}
}

// signing has a bill wait for its signature, and queued again when it is there.
func signing(b events.BillSubject) []events.Event {
	return []events.Event{
		events.BillDelayed{BillSubject: b, Until: began.Add(time.Hour), Reason: events.BillNotSigned, At: began},
		events.BillQueued{BillSubject: b, Round: 1, At: began},
	}
}

func TestBills_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	projectiontest.Check(t, paymentsviews.Bills{}, billStory())
}

// toldBills reads the bills of billStory.
func toldBills(t *testing.T) paymentsviews.BillsQuery {
	t.Helper()
	log := feedtest.New()
	for _, e := range billStory().Events() {
		log.AppendAs(e.Stream, e.Revision, e.Meta, e.Event)
	}
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(began)})
	r.Register(paymentsviews.Bills{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	coretest.WaitFor(t, r.Views(), uint64(10*len(log.Events())), paymentsviews.BillsName)
	return paymentsviews.BillsQuery{Views: r.Views()}
}

// named fails a test, or tells which of billStory some bills are.
func named(t *testing.T) func(rows []paymentsviews.BillRow, err error) []string {
	return func(rows []paymentsviews.BillRow, err error) (list []string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			list = append(list, r.Number[len("ACME-"):])
		}
		return list
	}
}

// dueAt is due an hour after billStory, or earlier or later.
func dueAt(after time.Duration) paymentsviews.BillsDue {
	now := began.Add(time.Hour + after)
	return paymentsviews.BillsDue{
		Now: now, SettledBefore: now.Add(-time.Hour - time.Second), LastSettled: now, LastRetry: now.Add(time.Hour),
	}
}

// putBack is due by a clock that was put back since billStory.
const putBack = -25 * time.Hour

func TestBills_WhatIsDueIsFound(t *testing.T) {
	t.Parallel()
	q, numbers := toldBills(t), named(t)
	before, early, back := dueAt(0), dueAt(-time.Second), dueAt(putBack)
	after := before
	after.SettledBefore = began.Add(time.Second)
	expectSet(t, "busy at once", numbers(q.Busy(t.Context(), acme, before, 100)), "doubt", "leaving", "paid", "again",
		"delayed")
	expectSet(t, "busy later", numbers(q.Busy(t.Context(), acme, after, 100)), "doubt", "leaving", "paid", "again",
		"elsewhere", "delayed")
	expectSet(t, "busy before it is looked at again", numbers(q.Busy(t.Context(), acme, early, 100)), "doubt",
		"leaving", "paid", "again")
	expectSet(t, "busy when the clock was put back", numbers(q.Busy(t.Context(), acme, back, 100)), "doubt", "leaving",
		"paid", "again", "elsewhere", "delayed")
	expectSet(t, "leaving", numbers(q.Leaving(t.Context(), acme, 100)), "sent")
	expectSet(t, "failed", numbers(q.List(t.Context(), acme, "failed", paymentsviews.BillKey{}, 100)), "failed")
	expectSet(t, "acknowledged", numbers(q.List(t.Context(), acme, "acknowledged", paymentsviews.BillKey{}, 100)),
		"known")
	expectSet(t, "of another organization", numbers(q.List(t.Context(), other, "", paymentsviews.BillKey{}, 100)))
	if orgs, err := q.BusyOrgs(t.Context(), before); err != nil || len(orgs) != 1 || orgs[0] != acme {
		t.Errorf("busy organizations %v, %v", orgs, err)
	}
	page := numbers(q.List(t.Context(), acme, "", paymentsviews.BillKey{}, 3))
	rows, err := q.List(t.Context(), acme, "", paymentsviews.BillKey{}, 3)
	if err != nil || len(page) != 3 {
		t.Fatal(page, err)
	}
	if rest := numbers(q.List(t.Context(), acme, "", rows[2].Key(), 100)); len(rest) != 10 {
		t.Errorf("after the first page %v", rest)
	}
}

// TestBills_WhatWaitsForItsSignatureIsNotSent before it is looked at again, and tells so.
func TestBills_WhatWaitsForItsSignatureIsNotSent(t *testing.T) {
	t.Parallel()
	q, numbers := toldBills(t), named(t)
	for _, at := range []time.Duration{0, putBack} {
		expectSet(t, "waiting", numbers(q.Waiting(t.Context(), acme, dueAt(at), 100)), "waits", "again", "unsigned",
			"signed")
	}
	expectSet(t, "waiting before", numbers(q.Waiting(t.Context(), acme, dueAt(-time.Second), 100)), "waits", "again",
		"signed")
	for name, want := range map[string]string{"unsigned": events.BillNotSigned, "signed": "", "delayed": ""} {
		row, err := q.Get(t.Context(), acme, id.Derive[id.Invoice]("bill", name))
		if err != nil || row == nil || row.WaitsFor != want {
			t.Errorf("%s: %+v, %v", name, row, err)
		}
	}
}

// expectSet compares names whatever their order.
func expectSet(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	seen := map[string]int{}
	for _, name := range want {
		seen[name]++
	}
	for _, name := range got {
		seen[name]--
	}
	for name, n := range seen {
		if n != 0 {
			t.Errorf("%s: %s is wrong in %v", what, name, got)
		}
	}
}

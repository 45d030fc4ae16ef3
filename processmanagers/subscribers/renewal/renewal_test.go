package renewal_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/renewal"
)

// The subscriber of these tests has up to two subscriptions.
var (
	start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	until = start.AddDate(0, 1, 0)
	who   = id.Derive[id.Subscriber]("test", "subscriber")
	line  = id.Derive[id.Subscription]("test", "line")
	line2 = id.Derive[id.Subscription]("test", "line2")
	inv1  = id.Derive[id.Invoice]("test", "1")
	inv2  = id.Derive[id.Invoice]("test", "2")
	kes   = func(major int64) money.Amount { return money.Major(major, money.KES) }
)

// cause is the id of every event here.
var cause = id.Derive[id.Event]("test", "cause")

// of wraps an event.
func of(e events.Event) processmanagers.Input {
	return processmanagers.Input{Event: &events.Envelope{ID: cause, Type: e.EventType(), Event: e}}
}

// after folds events, keeping the state as JSON between them as the runner does.
func after(t *testing.T, list ...events.Event) renewal.State {
	t.Helper()
	var s renewal.State
	for _, e := range list {
		text, err := json.Marshal(renewal.Evolve(s, of(e)))
		if err != nil {
			t.Fatal(err)
		}
		s = renewal.State{}
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// expect compares what the process wants; deciding twice must give the same.
func expect(t *testing.T, s renewal.State, in processmanagers.Input, want processmanagers.Output) {
	t.Helper()
	for range 2 {
		got, err := renewal.Decide(s, in, start)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("output (-want +got):\n%s", diff)
		}
	}
}

// does is an output of commands.
func does(list ...commands.Command) processmanagers.Output {
	return processmanagers.Output{Commands: list}
}

// arms is an output of one timer; the zero time disarms.
func arms(subscription id.Subscription, at time.Time) processmanagers.Output {
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: "renew:" + subscription.String(), At: at}}}
}

// rings is the timer of a subscription that came due.
func rings(subscription id.Subscription, at time.Time) processmanagers.Input {
	return processmanagers.Input{Timeout: &processmanagers.Timeout{Name: "renew:" + subscription.String(), Due: at}}
}

// created is a subscription with a price and period.
func created(s id.Subscription, mode events.BillingMode, price int64, period calendar.Period) events.Event {
	return events.SubscriptionCreated{SubscriptionID: s, SubscriberID: who, StartsAt: start,
		Terms: events.PlanTerms{Mode: mode, Price: kes(price), Period: period}}
}

// prepaid is a monthly subscription of 1,500.
func prepaid(s id.Subscription) events.Event {
	return created(s, events.Prepaid, 1500, calendar.Month)
}

// due is a prepaid period that waits for its money.
func due(s id.Subscription, invoice id.Invoice) events.Event {
	return events.PeriodDue{SubscriptionID: s, SubscriberID: who, InvoiceID: invoice}
}

// extended is a period that was paid.
func extended(s id.Subscription, invoice id.Invoice, paidUntil time.Time) events.Event {
	return events.SubscriptionExtended{SubscriptionID: s, SubscriberID: who, InvoiceID: invoice, PaidUntil: paidUntil}
}

// credit is money on the account.
func credit(major int64) events.Event {
	return events.CreditLeft{SubscriberID: who, Credit: kes(major)}
}

func TestPrepaid_NextInvoiceComesALeadTimeBeforeExpiry(t *testing.T) {
	t.Parallel()
	for period, lead := range map[calendar.Period]time.Duration{
		calendar.Hour: 10 * time.Minute, calendar.Day: 2 * time.Hour, calendar.Week: 24 * time.Hour,
		calendar.Month: 72 * time.Hour,
	} {
		s := after(t, created(line, events.Prepaid, 1500, period), due(line, inv1))
		expect(t, s, of(due(line, inv1)), arms(line, time.Time{})) // nothing while its invoice is open
		expect(t, s, of(extended(line, inv1, until)), arms(line, until.Add(-lead)))
	}
	s := after(t, prepaid(line), due(line, inv1), extended(line, inv1, until))
	rang := until.Add(-72 * time.Hour)
	expect(t, s, rings(line, rang), does(commands.MakePeriodDue{SubscriptionID: line,
		InvoiceID: id.Derive[id.Invoice]("period", line.String(), rang.Format(time.RFC3339Nano))}))
}

func TestTimer_TheSameMomentMakesTheSameInvoiceInEveryZone(t *testing.T) {
	t.Parallel()
	s := after(t, prepaid(line))
	utc, _ := renewal.Decide(s, rings(line, until), start)
	nairobi, _ := renewal.Decide(s, rings(line, until.In(time.FixedZone("EAT", 3*3600))), start)
	if diff := cmp.Diff(utc, nairobi); diff != "" {
		t.Errorf("a repeat would make another invoice:\n%s", diff)
	}
	expect(t, s, rings(line2, until), processmanagers.Output{}) // of a subscription that has ended
	expect(t, s, processmanagers.Input{Refusal: &processmanagers.Refusal{Code: "subscription_not_found"}},
		processmanagers.Output{})
}

func TestPaid_InvoiceOfAPeriodExtendsAndAManualOneDoesNot(t *testing.T) {
	t.Parallel()
	s := after(t, prepaid(line), due(line, inv1))
	expect(t, s, of(events.InvoicePaid{
		SubscriberID: who, InvoiceID: inv1, SubscriptionID: line, PeriodFrom: start, PeriodTo: until, At: start,
	}),
		does(commands.ExtendSubscription{
			SubscriptionID: line, InvoiceID: inv1, PaidAt: start, PeriodFrom: start, PeriodTo: until,
		}))
	expect(t, s, of(events.InvoicePaid{SubscriberID: who, InvoiceID: inv2}), processmanagers.Output{})
	expect(t, s, of(events.InvoiceReopened{SubscriberID: who, InvoiceID: inv2}), processmanagers.Output{})
	expect(t, s, of(events.InvoiceReopened{
		SubscriberID: who, InvoiceID: inv1, SubscriptionID: line, Reason: "reversed",
	}),
		does(commands.WithdrawPeriod{SubscriptionID: line, InvoiceID: inv1, Reason: "reversed"}))
}

func TestCredit_RenewsTheSubscriptionThatExpiresFirst(t *testing.T) {
	t.Parallel()
	renews := func(s id.Subscription) processmanagers.Output {
		return does(commands.MakePeriodDue{
			SubscriptionID: s, InvoiceID: id.Derive[id.Invoice]("period", s.String(), cause.String()),
		})
	}
	later := []events.Event{prepaid(line), created(line2, events.Prepaid, 1000, calendar.Month),
		extended(line, inv1, until.AddDate(0, 0, 5)), extended(line2, inv2, until)}
	s := after(t, later...)
	expect(t, s, of(credit(999)), processmanagers.Output{})
	expect(t, s, of(credit(1000)), renews(line2))
	expect(t, s, of(credit(5000)), renews(line2))
	s = after(t, append(later, due(line2, inv2))...) // its invoice takes its money by itself: the rest is the other's
	expect(t, s, of(credit(1499)), processmanagers.Output{})
	expect(t, s, of(credit(1500)), renews(line))
	s = after(t, append(later, events.SubscriptionPaused{SubscriptionID: line2, SubscriberID: who}, due(line, inv1))...)
	expect(t, s, of(credit(5000)), processmanagers.Output{})
	expect(t, after(t, created(line, events.Postpaid, 100, calendar.Month)), of(credit(5000)), processmanagers.Output{})
	expect(t, after(t, created(line, events.Prepaid, 0, calendar.Month)), of(credit(5000)), processmanagers.Output{})
	expect(t, after(t, prepaid(line)), of(events.CreditLeft{SubscriberID: who, Credit: money.Major(5000, "UGX")}),
		processmanagers.Output{})
	// equal: by id, in every replay
	expect(t, after(t, prepaid(line), prepaid(line2)), of(credit(5000)), renews(min2(line, line2)))
}

// min2 is the id whose text comes first.
func min2(a, b id.Subscription) id.Subscription {
	if a.String() < b.String() {
		return a
	}
	return b
}

func TestPostpaid_EveryPeriodIsDueAtItsStart(t *testing.T) {
	t.Parallel()
	first := events.PeriodDue{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, From: start, To: until}
	made := created(line, events.Postpaid, 1500, calendar.Month)
	expect(t, after(t), of(made), arms(line, start)) // one that starts later waits for its day
	expect(t, after(t, made), of(first), arms(line, until))
	s := after(t, made, first)
	expect(t, s, of(extended(line, inv1, until)), arms(line, until)) // paying moves nothing
	expect(t, s, of(events.PeriodCancelled{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, At: start}),
		arms(line, until))
}

func TestPause_DisarmsAndResumeArmsForTheShiftedEnd(t *testing.T) {
	t.Parallel()
	paused := events.SubscriptionPaused{SubscriptionID: line, SubscriberID: who, At: start}
	s := after(t, prepaid(line), due(line, inv1), extended(line, inv1, until))
	expect(t, s, of(paused), arms(line, time.Time{}))
	s = renewal.Evolve(s, of(paused))
	expect(t, s, of(extended(line, inv2, until)), arms(line, time.Time{})) // money that came meanwhile
	expect(t, s, of(events.SubscriptionResumed{SubscriptionID: line, SubscriberID: who,
		PaidUntil: until.AddDate(0, 0, 9)}), arms(line, until.AddDate(0, 0, 6)))

	post := after(t, created(line, events.Postpaid, 1500, calendar.Month),
		events.PeriodDue{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, From: start, To: until}, paused)
	expect(t, post, of(events.SubscriptionResumed{SubscriptionID: line, SubscriberID: who,
		NextFrom: until.AddDate(0, 2, 0)}), arms(line, until.AddDate(0, 2, 0)))
}

func TestVoided_FreesThePeriodAndIsNotMadeAgainAtOnce(t *testing.T) {
	t.Parallel()
	voided := of(events.InvoiceVoided{SubscriberID: who, InvoiceID: inv1, SubscriptionID: line})
	cancelled := func(at time.Time) processmanagers.Input {
		return of(events.PeriodCancelled{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, At: at})
	}
	s := after(t, prepaid(line), extended(line, inv2, until), due(line, inv1))
	expect(t, s, voided, does(commands.CancelPeriod{SubscriptionID: line, InvoiceID: inv1}))
	expect(t, s, of(events.InvoiceCancelled{SubscriberID: who, InvoiceID: inv1, SubscriptionID: line}),
		does(commands.CancelPeriod{SubscriptionID: line, InvoiceID: inv1}))
	expect(t, s, of(events.InvoiceCancelled{SubscriberID: who, InvoiceID: inv2}), processmanagers.Output{})
	expect(t, s, cancelled(until.Add(-time.Hour)), arms(line, time.Time{}))
	expect(t, s, cancelled(start), arms(line, until.Add(-72*time.Hour))) // long before: the lead time is still to come
	free := renewal.Evolve(s, cancelled(start))
	expect(t, free, voided, processmanagers.Output{})
	if got, _ := renewal.Decide(free, of(credit(1500)), start); len(got.Commands) != 1 {
		t.Errorf("money makes %v", got)
	}
}

func TestReopened_TheSecondOpenInvoiceStaysKnown(t *testing.T) {
	t.Parallel()
	withdrawn := events.PeriodWithdrawn{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, PaidUntil: start}
	s := after(t, prepaid(line), extended(line, inv1, until), due(line, inv2), withdrawn)
	s = renewal.Evolve(s, of(extended(line, inv1, until))) // paid again; the renewal's invoice is still open
	expect(t, s, of(credit(1500)), processmanagers.Output{})
	expect(t, s, of(extended(line, inv1, until)), arms(line, time.Time{}))
	expect(t, s, of(extended(line, inv2, until.AddDate(0, 1, 0))),
		arms(line, until.AddDate(0, 1, 0).Add(-72*time.Hour)))
}

func TestEnded_InvoicesOfServiceNeverGivenAreVoided(t *testing.T) {
	t.Parallel()
	ended := of(events.SubscriptionEnded{SubscriptionID: line, SubscriberID: who})
	void := does(commands.VoidInvoice{SubscriberID: who, InvoiceID: inv2, Reason: "subscription ended"})
	void.Timers = arms(line, time.Time{}).Timers
	expect(t, after(t, prepaid(line), due(line, inv2)), ended, void)
	withdrawn := events.PeriodWithdrawn{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, PaidUntil: start}
	s := after(t, prepaid(line), extended(line, inv1, until), due(line, inv2), withdrawn)
	expect(t, s, ended, void) // the reopened one was used: it is owed
	expect(t, after(t, created(line, events.Postpaid, 1500, calendar.Month), due(line, inv1)), ended,
		arms(line, time.Time{}))
	s = renewal.Evolve(s, ended)
	for _, in := range []processmanagers.Input{
		of(credit(5000)), rings(line, until), of(due(line, inv1)), of(extended(line, inv1, until)),
	} {
		if got, _ := renewal.Decide(s, in, start); len(got.Commands) != 0 ||
			len(got.Timers) > 0 && !got.Timers[0].At.IsZero() {
			t.Errorf("after the end: %+v", got)
		}
	}
}

func TestCredit_BelowWhatTheInvoiceAsksForWithTaxStaysCredit(t *testing.T) {
	t.Parallel()
	draft := events.InvoiceDrafted{SubscriberID: who, SubscriptionID: line, InvoiceID: inv1, Total: kes(1740)}
	s := after(t, prepaid(line), due(line, inv1), draft, extended(line, inv1, until))
	expect(t, s, of(credit(1500)), processmanagers.Output{})
	if got, _ := renewal.Decide(s, of(credit(1740)), start); len(got.Commands) != 1 {
		t.Errorf("credit that covers it: %+v", got)
	}
}

func TestEnded_AnInvoiceDraftedAfterTheEndIsVoided(t *testing.T) {
	t.Parallel()
	draft := events.InvoiceDrafted{SubscriberID: who, SubscriptionID: line, InvoiceID: inv1}
	lives := after(t, prepaid(line), due(line, inv1))
	expect(t, lives, of(draft), processmanagers.Output{})
	ended := renewal.Evolve(lives, of(events.SubscriptionEnded{SubscriptionID: line, SubscriberID: who}))
	expect(t, ended, of(draft), does(commands.VoidInvoice{
		SubscriberID: who, InvoiceID: inv1, Reason: "subscription ended",
	}))
	postpaid := draft
	postpaid.PeriodFrom, postpaid.PeriodTo = start, until
	expect(t, ended, of(postpaid), processmanagers.Output{}) // its period had begun
	expect(t, ended, of(events.InvoiceDrafted{SubscriberID: who, InvoiceID: inv2}), processmanagers.Output{})
}

func TestProcess_EveryHandledEventHasTheSubscriberAsItsKey(t *testing.T) {
	t.Parallel()
	p := renewal.Process()
	list := []events.Event{
		prepaid(line), due(line, inv1), events.PeriodCancelled{SubscriberID: who}, extended(line, inv1, until),
		events.PeriodWithdrawn{SubscriberID: who}, events.SubscriptionPaused{SubscriberID: who},
		events.SubscriptionResumed{SubscriberID: who}, events.SubscriptionEnded{SubscriberID: who},
		events.InvoicePaid{SubscriberID: who}, events.InvoiceReopened{SubscriberID: who},
		events.InvoiceVoided{SubscriberID: who}, events.InvoiceCancelled{SubscriberID: who}, credit(1),
		events.InvoiceDrafted{SubscriberID: who},
	}
	handled := map[string]bool{}
	for _, name := range p.Handles {
		handled[name] = true
	}
	for _, e := range list {
		if p.Key(*of(e).Event) != who.String() || !handled[e.EventType()] {
			t.Errorf("%s: key %q, handled %v", e.EventType(), p.Key(*of(e).Event), handled[e.EventType()])
		}
		delete(handled, e.EventType())
	}
	if len(handled) != 0 {
		t.Errorf("without a test: %v", handled)
	}
}

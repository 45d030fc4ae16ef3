package dunning_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/access/dunning"
)

// The subscriber of these tests has a prepaid line and a postpaid one.
var (
	start   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	until   = start.AddDate(0, 1, 0)
	who     = id.Derive[id.Subscriber]("test", "subscriber")
	org     = id.Derive[id.Organization]("test", "org")
	line    = id.Derive[id.Subscription]("test", "line")
	invoice = id.Derive[id.Invoice]("test", "1")
	day     = calendar.Date{Year: 2026, Month: 3, Day: 20}
	kes     = func(major int64) money.Amount { return money.Major(major, money.KES) }
	subject = events.DunningSubject{SubscriptionID: line, OrgID: org, SubscriberID: who}
)

// created is the line in a mode and a period.
func created(mode events.BillingMode, period calendar.Period) events.Event {
	return events.SubscriptionCreated{
		SubscriptionID: line, OrgID: org, SubscriberID: who,
		Terms: events.PlanTerms{Mode: mode, Price: kes(1500), Period: period},
	}
}

// issued is an invoice of the line over 1,500 shillings.
func issued(of id.Subscription) events.Event {
	return events.InvoiceIssued{
		SubscriberID: who, OrgID: org, InvoiceID: invoice, SubscriptionID: of, Total: kes(1500), DueOn: day,
	}
}

// at is the metadata of events at an instant.
func at(when time.Time) events.Metadata { return events.Metadata{At: when} }

// looks is the output of a review with the timer after it.
func looks(short bool, timer time.Time, owed ...events.DunningOwed) processmanagers.Output {
	return processmanagers.Output{
		Commands: []commands.Command{commands.ReviewDunning{Subject: subject, Short: short, Owed: owed}},
		Timers:   []processmanagers.Timer{{Name: "look:" + line.String(), At: timer}},
	}
}

// owes is a debt of the line's invoice.
func owes(since time.Time, major int64) events.DunningOwed {
	return events.DunningOwed{
		At: since, Debts: []events.DunningDebt{{InvoiceID: invoice, DueOn: day, Amount: kes(major)}},
	}
}

// reviewed is the answer to a review.
func reviewed(state events.DunningState, wake time.Time) events.Event {
	return events.DunningReviewed{DunningSubject: subject, State: state, WakeAt: wake}
}

func TestPrepaid_IsReviewedWhenPaidTimeChangesAndWhenAStepIsDue(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, dunning.Process(), start).With(at(start)).Given(created(events.Prepaid, calendar.Month))
	s.When(issued(line)).ThenNothing() // pending: there is nothing to cut
	s = s.When(events.SubscriptionExtended{SubscriptionID: line, SubscriberID: who, PaidUntil: until}).
		Then(looks(false, start.Add(time.Hour), events.DunningOwed{At: start, PaidUntil: until}))
	s = s.When(reviewed(events.DunningNone, until)).Then(processmanagers.Output{
		Timers: []processmanagers.Timer{{Name: "look:" + line.String(), At: until}},
	})
	timed := looks(false, until.Add(time.Hour), events.DunningOwed{At: start, PaidUntil: until})
	timed.Commands = []commands.Command{commands.ReviewDunning{
		Subject: subject, Timed: true, Owed: []events.DunningOwed{{At: start, PaidUntil: until}},
	}}
	s.At(until).WhenDue("look:"+line.String(), until).Then(timed)
	paused := s.With(at(start.Add(time.Hour))).
		When(events.SubscriptionPaused{SubscriptionID: line, SubscriberID: who}).
		Then(looks(false, start.Add(time.Hour), events.DunningOwed{At: start.Add(time.Hour)}))
	paused.When(events.SubscriptionResumed{SubscriptionID: line, SubscriberID: who, PaidUntil: until}).Then(goesOn(
		start.Add(time.Hour),
		looks(false, start.Add(time.Hour), events.DunningOwed{At: start.Add(time.Hour), PaidUntil: until}),
	))
	s.When(events.SubscriptionEnded{SubscriptionID: line, SubscriberID: who}).
		Then(goesOn(start, looks(false, start.Add(time.Hour), events.DunningOwed{At: start})))
}

// goesOn is an output before which the clock is asked to go on after a pause that ended at an instant.
func goesOn(end time.Time, out processmanagers.Output) processmanagers.Output {
	begun := commands.StartClock{Subject: subject, Cause: events.ClockPaused, Until: end}
	out.Commands = append([]commands.Command{begun}, out.Commands...)
	return out
}

func TestPostpaid_HistoryReachesBackToTheStateNone(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, dunning.Process(), start).With(at(start)).
		Given(created(events.Postpaid, calendar.Month)).When(issued(line)).
		Then(looks(false, start.Add(time.Hour), owes(start, 1500))).
		Given(reviewed(events.DunningReminding, until))
	later := start.Add(24 * time.Hour)
	s = s.At(later).With(at(later)).
		When(events.InvoiceAllocated{SubscriberID: who, InvoiceID: invoice, Due: kes(500)}).
		Then(looks(false, later.Add(time.Hour), owes(start, 1500), owes(later, 500)))
	s = s.When(events.InvoicePaid{SubscriberID: who, InvoiceID: invoice, SubscriptionID: line}).
		Then(looks(false, later.Add(time.Hour), owes(start, 1500), owes(later, 500), events.DunningOwed{At: later}))
	s = s.Given(reviewed(events.DunningNone, time.Time{}))
	s.When(events.InvoiceReopened{SubscriberID: who, InvoiceID: invoice, Due: kes(1500)}).
		Then(looks(false, later.Add(time.Hour), owes(later, 1500)))
}

func TestPostpaid_AnInvoiceOfNoSubscriptionCountsForEachOfThem(t *testing.T) {
	t.Parallel()
	processtest.For(t, dunning.Process(), start).With(at(start)).
		Given(created(events.Postpaid, calendar.Month)).When(issued(id.Subscription{})).
		Then(looks(false, start.Add(time.Hour), owes(start, 1500)))
	processtest.For(t, dunning.Process(), start).With(at(start)).
		Given(created(events.Postpaid, calendar.Day)).When(issued(line)).
		Then(looks(true, start.Add(time.Hour), owes(start, 1500)))
}

// soldTo is an invoice of no period for something that a subscription got.
func soldTo(of id.Subscription, order bool) events.InvoiceIssued {
	return events.InvoiceIssued{
		SubscriberID: who, OrgID: org, InvoiceID: invoice, SoldTo: of, Order: order, Total: kes(1500), DueOn: day,
	}
}

func TestSales_CountForTheirOwnSubscriptionAlone(t *testing.T) {
	t.Parallel()
	other := id.Derive[id.Subscription]("test", "other")
	s := processtest.For(t, dunning.Process(), start).With(at(start)).Given(created(events.Postpaid, calendar.Month))
	s.When(soldTo(line, false)).Then(looks(false, start.Add(time.Hour), owes(start, 1500)))
	s.When(soldTo(other, false)).ThenNothing()
	processtest.For(t, dunning.Process(), start).With(at(start)).Given(created(events.Prepaid, calendar.Month),
		events.SubscriptionExtended{SubscriptionID: line, SubscriberID: who, PaidUntil: until}).
		When(soldTo(line, false)).ThenNothing()
}

// An order is for something that nobody has got. When its payment is taken back, somebody has.
func TestOrders_CountForNobodyUntilTheirPaymentIsTakenBack(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, dunning.Process(), start).With(at(start)).Given(created(events.Postpaid, calendar.Month))
	s = s.When(soldTo(line, true)).ThenNothing().
		When(events.InvoiceAllocated{SubscriberID: who, InvoiceID: invoice, Due: kes(500)}).ThenNothing().
		When(events.InvoicePaid{SubscriberID: who, InvoiceID: invoice, SoldTo: line}).ThenNothing()
	today := calendar.On(start, time.UTC)
	s.When(events.InvoiceReopened{SubscriberID: who, InvoiceID: invoice, SoldTo: line, Due: kes(1500)}).
		Then(looks(false, start.Add(time.Hour), events.DunningOwed{At: start, Debts: []events.DunningDebt{
			{InvoiceID: invoice, DueOn: today, Amount: kes(1500)},
		}}))
}

func TestHoldsAndRulesAreFollowedAndARefusalIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, dunning.Process(), start).With(at(start)).Given(created(events.Postpaid, calendar.Month))
	for _, e := range []events.Event{
		events.HoldPlaced{DunningSubject: subject}, events.HoldLifted{DunningSubject: subject},
		events.DunningClockStopped{DunningSubject: subject}, events.DunningClockStarted{DunningSubject: subject},
		events.DunningReviewAsked{DunningSubject: subject},
	} {
		s.When(e).Then(looks(false, start.Add(time.Hour), events.DunningOwed{At: start}))
	}
	asked := commands.ReviewDunning{Subject: subject, Owed: []events.DunningOwed{{At: start}}}
	for code, wait := range map[string]time.Duration{
		"concurrent_change": time.Minute, "cuts_wait": time.Second, "not_found": time.Hour,
	} {
		s.WhenRefused(asked, code).Then(looksAgain(wait))
	}
}

// looksAgain is the output of a process that makes a review again after a while.
func looksAgain(after time.Duration) processmanagers.Output {
	return processmanagers.Output{
		Timers: []processmanagers.Timer{{Name: "look:" + line.String(), At: start.Add(after)}},
	}
}

func TestCuts_ThatWaitAreTriedAgainSoonAndThenEveryMinute(t *testing.T) {
	t.Parallel()
	asked := commands.ReviewDunning{Subject: subject, Timed: true, Owed: []events.DunningOwed{{At: start}}}
	changed := asked
	changed.Timed = false // by an event
	s := processtest.For(t, dunning.Process(), start).With(at(start)).Given(created(events.Postpaid, calendar.Month)).
		WhenRefused(asked, "cuts_wait").Then(looksAgain(time.Second)).
		WhenRefused(changed, "cuts_wait").Then(looksAgain(2*time.Second)).
		WhenRefused(asked, "cuts_wait").Then(looksAgain(2*time.Second)).
		WhenRefused(asked, "concurrent_change").Then(looksAgain(time.Minute))
	for _, wait := range []time.Duration{
		4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute,
	} {
		s = s.WhenRefused(asked, "cuts_wait").Then(looksAgain(wait))
	}
	s.Given(events.DunningReviewed{DunningSubject: subject, State: events.DunningNone, At: start}).
		WhenRefused(asked, "cuts_wait").Then(looksAgain(time.Second))
}

func TestRules_OnlyWhatDunningDependsOnIsFollowed(t *testing.T) {
	t.Parallel()
	follows := processmanagers.Output{Jobs: []commands.Job{
		commands.FollowDunningRules{OrgID: org, Position: processtest.Position},
	}}
	adopted := func(zone, prefix string, holidays ...calendar.Date) events.Event {
		return events.BillingSettingsAdopted{OrgID: org, Billing: events.BillingSettings{
			Timezone: zone, InvoicePrefix: prefix, Holidays: holidays,
		}}
	}
	s := processtest.For(t, dunning.RulesProcess(), start).Given(events.OrganizationCreated{
		OrgID: org, Billing: events.BillingSettings{Timezone: "Africa/Nairobi"},
	})
	s.When(adopted("Africa/Nairobi", "NEW")).ThenNothing()
	s.When(adopted("Africa/Kampala", "")).Then(follows)
	s = s.When(adopted("Africa/Nairobi", "", day)).Then(follows)
	s.When(adopted("Africa/Nairobi", "", day)).ThenNothing()
	policy := func(days int) events.DunningPolicy { return events.DunningPolicy{GraceDays: days} }
	set := func(night, day int) events.Event {
		return events.DunningPoliciesSet{OrgID: org, Default: policy(3), Policies: map[string]events.DunningPolicy{
			"night": policy(night), "day": policy(day),
		}}
	}
	s = s.When(set(1, 1)).Then(follows)
	follows.Jobs = []commands.Job{commands.FollowDunningRules{
		OrgID: org, Position: processtest.Position, Unchanged: []string{"", "day"},
	}}
	s.When(set(2, 1)).Then(follows)
}

func TestManyPayments_KeepTheBeginningOfTheCourse(t *testing.T) {
	t.Parallel()
	for _, answered := range []bool{true, false} {
		process := dunning.Process()
		var s dunning.State
		take := func(when time.Time, e events.Event) {
			s = process.Evolve(s, processmanagers.Input{Event: &events.Envelope{Event: e, Meta: at(when)}})
		}
		take(start, created(events.Postpaid, calendar.Month))
		take(start, issued(line))
		take(start, reviewed(events.DunningSuspended, until))
		var last events.DunningOwed
		for n := range 150 {
			when := start.Add(time.Duration(n+1) * time.Minute)
			last = owes(when, int64(1499-n))
			take(when, events.InvoiceAllocated{SubscriberID: who, InvoiceID: invoice, Due: last.Debts[0].Amount})
			if answered {
				take(when, events.DunningReviewed{
					DunningSubject: subject, State: events.DunningSuspended, Owed: last, Since: start,
				})
			}
		}
		owed := s.Lines[line].Owed
		if !owed[0].At.Equal(start) || !cmp.Equal(owed[len(owed)-1], last) {
			t.Errorf("the course is from %+v to %+v", owed[0], owed[len(owed)-1])
		}
		if most := map[bool]int{true: 2, false: 60}[answered]; len(owed) != most {
			t.Errorf("%d changes are kept, want %d", len(owed), most)
		}
	}
}

// A debt that is dated by a clock ahead is of the review that found it by the right one, also when less is owed since.
func TestReviewed_TellsTheInstantOfADebtThatIsDatedAhead(t *testing.T) {
	t.Parallel()
	ahead := start.AddDate(1, 0, 0)
	found, later := start.Add(time.Minute), start.Add(time.Hour)
	s := processtest.For(t, dunning.Process(), start).With(at(ahead)).
		Given(created(events.Postpaid, calendar.Month), issued(line)).
		Given(events.DunningReviewed{
			DunningSubject: subject, State: events.DunningReminding, Owed: owes(found, 1500), At: found,
		}).At(later).With(at(later))
	s.When(events.InvoiceAllocated{SubscriberID: who, InvoiceID: invoice, Due: kes(500)}).
		Then(looks(false, later.Add(time.Hour), owes(found, 1500), owes(later, 500)))
}

// Debts that come and go while reviews are under way are the same again and again. The answer to a review is about
// those that it was asked for, and tells nothing of the ones that came later.
func TestReviewed_TellsNothingOfWhatIsOwedAgainSince(t *testing.T) {
	t.Parallel()
	minute := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	s := processtest.For(t, dunning.Process(), start).With(at(start)).
		Given(created(events.Postpaid, calendar.Month), issued(line), events.DunningReviewed{
			DunningSubject: subject, State: events.DunningWalledGarden, Owed: owes(start, 1500), At: start,
		})
	for n, due := range []int64{0, 1500, 500, 1500, 500} {
		s = s.With(at(minute(n + 1))).
			Given(events.InvoiceAllocated{SubscriberID: who, InvoiceID: invoice, Due: kes(due)})
	}
	now := minute(10)
	s = s.At(now).With(at(now))
	for _, e := range []events.DunningReviewed{
		{State: events.DunningNone, Owed: events.DunningOwed{At: minute(1)}},
		{State: events.DunningWalledGarden, Owed: owes(minute(2), 1500)},
		{State: events.DunningWalledGarden, Owed: owes(minute(3), 500), Since: minute(2)},
		{State: events.DunningWalledGarden, Owed: owes(minute(4), 1500), Since: minute(2)},
	} {
		e.DunningSubject, e.At = subject, minute(9)
		s = s.Given(e)
	}
	s.When(events.InvoiceAllocated{SubscriberID: who, InvoiceID: invoice, Due: kes(400)}).
		Then(looks(false, now.Add(time.Hour), owes(minute(5), 500), owes(now, 400)))
}

// A review that was made while a clock was ahead is about what was owed then. What came since by the right clock has an
// earlier instant and stays.
func TestReviewed_WhileAClockIsAheadForgetsNothingThatCameSince(t *testing.T) {
	t.Parallel()
	ahead, later := start.AddDate(1, 0, 0), start.Add(time.Hour)
	allocated := func(due int64) events.Event {
		return events.InvoiceAllocated{SubscriberID: who, InvoiceID: invoice, Due: kes(due)}
	}
	garden := func(owed events.DunningOwed, since time.Time) events.Event {
		return events.DunningReviewed{
			DunningSubject: subject, State: events.DunningWalledGarden, Owed: owed, Since: since, At: owed.At,
		}
	}
	s := processtest.For(t, dunning.Process(), start).With(at(start)).
		Given(created(events.Postpaid, calendar.Month), issued(line), garden(owes(start, 1500), time.Time{})).
		With(at(ahead)).Given(allocated(1000)).With(at(later)).Given(allocated(500))
	now := later.Add(time.Hour)
	s.At(now).With(at(now)).Given(garden(owes(ahead, 1000), start)).When(allocated(400)).
		Then(looks(false, now.Add(time.Hour), owes(start, 1500), owes(ahead, 1000), owes(later, 500), owes(now, 400)))
}

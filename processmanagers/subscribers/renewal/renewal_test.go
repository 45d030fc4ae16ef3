package renewal_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/renewal"
)

// The ids, instants and events of one subscriber, who has up to two subscriptions.
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

// after begins an example in which events have happened.
func after(t *testing.T, list ...events.Event) processtest.Scenario[renewal.State] {
	t.Helper()
	return processtest.For(t, renewal.Process(), start).Given(list...)
}

// timer is the name of a subscription's timer.
func timer(subscription id.Subscription) string { return "renew:" + subscription.String() }

// does is an output without jobs and timers.
func does(list ...commands.Command) processmanagers.Output {
	return processmanagers.Output{Commands: list}
}

// arms is an output of one timer; the zero time disarms.
func arms(subscription id.Subscription, at time.Time) processmanagers.Output {
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timer(subscription), At: at}}}
}

// leaves is an output that leaves the next period to the billing run of its day.
func leaves(subscription id.Subscription) processmanagers.Output {
	return arms(subscription, time.Time{})
}

// created is a subscription that starts at start, with a price in whole shillings.
func created(s id.Subscription, mode events.BillingMode, price int64, period calendar.Period) events.Event {
	return events.SubscriptionCreated{SubscriptionID: s, SubscriberID: who, StartsAt: start,
		Terms: events.PlanTerms{Mode: mode, Price: kes(price), Period: period}}
}

// prepaid is a prepaid subscription of 1,500 shillings a month.
func prepaid(s id.Subscription) events.Event {
	return created(s, events.Prepaid, 1500, calendar.Month)
}

// due is a prepaid period with an unpaid invoice.
func due(s id.Subscription, invoice id.Invoice) events.Event {
	return events.PeriodDue{SubscriptionID: s, SubscriberID: who, InvoiceID: invoice}
}

// extended is a paid period; paidUntil is its exclusive end.
func extended(s id.Subscription, invoice id.Invoice, paidUntil time.Time) events.Event {
	return events.SubscriptionExtended{SubscriptionID: s, SubscriberID: who, InvoiceID: invoice, PaidUntil: paidUntil}
}

// credit leaves whole shillings on the account.
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
		s.When(due(line, inv1)).Then(arms(line, time.Time{})) // no timer while the invoice is open
		ahead := s.When(extended(line, inv1, start.AddDate(0, 0, 30)))
		if period.Short() {
			ahead.Then(arms(line, start.AddDate(0, 0, 30).Add(-lead)))
			continue
		}
		ahead.Then(leaves(line))
		today, tomorrow := start.Add(lead+14*time.Hour), start.Add(lead+15*time.Hour)
		at := calendar.Date{Year: 2026, Month: 3, Day: 2}
		atOnce := leaves(line)
		atOnce.Commands = []commands.Command{commands.MakePeriodDue{SubscriptionID: line, On: at}}
		s.When(extended(line, inv1, today)).Then(atOnce) // the run of today may be over
		s.When(extended(line, inv1, start)).Then(asks(atOnce))
		s.When(extended(line, inv1, tomorrow)).Then(leaves(line))
	}
	s := after(t, created(line, events.Prepaid, 1500, calendar.Day), due(line, inv1), extended(line, inv1, until))
	rang := until.Add(-2 * time.Hour)
	s.WhenDue(timer(line), rang).Then(does(commands.MakePeriodDue{SubscriptionID: line, Rang: true}))
	s.WhenDue(timer(line2), until).ThenNothing() // of a subscription that has ended
	s.WhenRefused(commands.MakePeriodDue{SubscriptionID: line}, "subscription_not_found").ThenNothing()
}

func TestPaid_InvoiceOfAPeriodExtendsAndAManualOneDoesNot(t *testing.T) {
	t.Parallel()
	s := after(t, prepaid(line), due(line, inv1))
	s.When(events.InvoicePaid{
		SubscriberID: who, InvoiceID: inv1, SubscriptionID: line, PeriodFrom: start, PeriodTo: until, At: start,
	}).Then(does(commands.ExtendSubscription{
		SubscriptionID: line, InvoiceID: inv1, PaidAt: start,
	}))
	s.When(events.InvoicePaid{SubscriberID: who, InvoiceID: inv2}).ThenNothing()
	s.When(events.InvoiceReopened{SubscriberID: who, InvoiceID: inv2}).ThenNothing()
	s.When(events.InvoiceReopened{
		SubscriberID: who, InvoiceID: inv1, SubscriptionID: line, Reason: personal.Of("reversed"),
	}).Then(does(commands.WithdrawPeriod{SubscriptionID: line, InvoiceID: inv1, Reason: "the payment was taken back"}))
}

func TestCredit_RenewsTheSubscriptionThatExpiresFirst(t *testing.T) {
	t.Parallel()
	renews := func(s id.Subscription) processmanagers.Output {
		return does(commands.MakePeriodDue{SubscriptionID: s})
	}
	later := []events.Event{prepaid(line), created(line2, events.Prepaid, 1000, calendar.Month),
		extended(line, inv1, until.AddDate(0, 0, 5)), extended(line2, inv2, until)}
	s := after(t, later...)
	s.When(credit(999)).ThenNothing()
	s.When(credit(1000)).Then(renews(line2))
	s.When(credit(5000)).Then(renews(line2))
	// the open invoice of line2 is paid first; credit that is left belongs to line
	s = after(t, append(later, due(line2, inv2))...)
	s.When(credit(1499)).ThenNothing()
	s.When(credit(1500)).Then(renews(line))
	s = after(t, append(later, events.SubscriptionPaused{SubscriptionID: line2, SubscriberID: who}, due(line, inv1))...)
	s.When(credit(5000)).ThenNothing()
	after(t, created(line, events.Postpaid, 100, calendar.Month)).When(credit(5000)).ThenNothing()
	after(t, created(line, events.Prepaid, 0, calendar.Month)).When(credit(5000)).ThenNothing()
	after(t, prepaid(line)).When(events.CreditLeft{SubscriberID: who, Credit: money.Major(5000, "UGX")}).ThenNothing()
	for range 20 { // both expire at the same time: the smaller id is renewed, in every replay
		after(t, prepaid(line), prepaid(line2)).When(credit(5000)).Then(renews(min2(line, line2)))
	}
}

func TestCredit_LeftOnTheAccountForgetsNoSubscription(t *testing.T) {
	t.Parallel()
	after(t, prepaid(line), due(line, inv1), credit(10)).When(extended(line, inv1, until)).
		Then(leaves(line))
}

// min2 is the id whose text comes first, as a tie is decided.
func min2(a, b id.Subscription) id.Subscription {
	if a.String() < b.String() {
		return a
	}
	return b
}

func TestVoided_FreesThePeriodAndIsNotMadeAgainAtOnce(t *testing.T) {
	t.Parallel()
	voided := events.InvoiceVoided{SubscriberID: who, InvoiceID: inv1, SubscriptionID: line}
	cancelled := func(at time.Time) events.Event {
		return events.PeriodCancelled{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, At: at}
	}
	cancels := does(commands.CancelPeriod{SubscriptionID: line, InvoiceID: inv1})
	s := after(t, prepaid(line), extended(line, inv2, until), due(line, inv1))
	s.When(voided).Then(cancels)
	s.When(events.InvoiceCancelled{SubscriberID: who, InvoiceID: inv1, SubscriptionID: line}).Then(cancels)
	s.When(events.InvoiceCancelled{SubscriberID: who, InvoiceID: inv2}).ThenNothing()
	s.When(cancelled(until.Add(-time.Hour))).Then(arms(line, time.Time{}))
	// The cancellation comes before the lead time has begun.
	free := s.When(cancelled(start)).Then(leaves(line))
	free.When(events.InvoiceVoided{SubscriberID: who, InvoiceID: inv1}).ThenNothing() // of no subscription
	if got := free.When(credit(1500)).Output(); len(got.Commands) != 1 {
		t.Errorf("money makes %v", got)
	}
}

func TestReopened_TheSecondOpenInvoiceStaysKnown(t *testing.T) {
	t.Parallel()
	withdrawn := events.PeriodWithdrawn{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, PaidUntil: start}
	s := after(t, prepaid(line), extended(line, inv1, until), due(line, inv2), withdrawn)
	s.When(credit(5000)).ThenNothing()
	s = s.Given(extended(line, inv1, until)) // paid again; the invoice of the next period is still open
	s.When(credit(1500)).ThenNothing()
	s.When(extended(line, inv1, until)).Then(arms(line, time.Time{}))
	s.When(extended(line, inv2, until.AddDate(0, 1, 0))).Then(leaves(line))
}

// neverBegan is a period that was cancelled because its subscription ended first.
func neverBegan(s id.Subscription, invoice id.Invoice) events.Event {
	return events.PeriodCancelled{
		SubscriptionID: s, SubscriberID: who, InvoiceID: invoice, Ordinal: 2, NeverBegan: true,
		At: start,
	}
}

// void gives the money on an invoice back and voids it.
func void(invoice id.Invoice) commands.VoidInvoice {
	return commands.VoidInvoice{
		SubscriberID: who, InvoiceID: invoice, Reason: "subscription ended", ReleaseMoney: true,
	}
}

func TestEnded_MoneyOnTheInvoiceOfAPeriodThatNeverBeganBecomesCredit(t *testing.T) {
	t.Parallel()
	ended := events.SubscriptionEnded{SubscriptionID: line, SubscriberID: who}
	voids := does(void(inv2))
	voids.Timers = arms(line, time.Time{}).Timers
	s := after(t, prepaid(line), extended(line, inv1, until), due(line, inv2))
	s.When(ended).Then(disarmed(line))
	s.Given(ended).When(neverBegan(line, inv2)).Then(voids)
	// A payment that came after the end makes the aggregate cancel the period; the money goes back in the same way.
	s.Given(ended).When(events.InvoicePaid{SubscriberID: who, InvoiceID: inv2, SubscriptionID: line, At: start}).
		Then(does(commands.ExtendSubscription{SubscriptionID: line, InvoiceID: inv2, PaidAt: start}))
}

func TestEnded_TheSubscriptionIsForgottenAndRenewsNoMore(t *testing.T) {
	t.Parallel()
	s := after(t, prepaid(line), prepaid(line2), extended(line, inv1, until), due(line2, inv2))
	s = s.When(events.SubscriptionEnded{SubscriptionID: line, SubscriberID: who}).Then(disarmed(line))
	s.When(credit(5000)).ThenNothing()
	s.WhenDue(timer(line), until).ThenNothing()
	s.When(due(line, inv1)).Then(arms(line, time.Time{}))
	s.When(extended(line, inv1, until)).Then(arms(line, time.Time{}))
	s.When(extended(line, inv1, until)).ThenState(renewal.State{Subscriptions: map[id.Subscription]renewal.Subscription{
		line2: {Mode: events.Prepaid, Price: kes(1500), Period: calendar.Month, StartsAt: start, NextFrom: start,
			Open: []id.Invoice{inv2}},
	}})
}

func TestRefused_WhatIsStillWantedIsAskedAgain(t *testing.T) {
	t.Parallel()
	again := func(at time.Time) processmanagers.Output {
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: "again", At: at}}}
	}
	for code, wait := range map[string]time.Duration{
		"invoice_not_found": time.Minute, "invoice_has_credit_note": time.Hour,
	} {
		s := after(t, prepaid(line)).WhenRefused(void(inv2), code).Then(again(start.Add(wait)))
		s = s.WhenRefused(void(inv2), code).Then(again(start.Add(wait))) // kept once
		s = s.WhenDue("again", start.Add(wait)).Then(does(void(inv2)))
		s.WhenDue("again", start.Add(wait)).ThenNothing()
	}
	asked := []commands.Command{
		commands.ExtendSubscription{SubscriptionID: line, InvoiceID: inv1, PaidAt: start},
		commands.WithdrawPeriod{SubscriptionID: line, InvoiceID: inv1, Reason: "the payment was taken back"},
		commands.CancelPeriod{SubscriptionID: line, InvoiceID: inv1},
	}
	s := after(t, prepaid(line))
	for _, c := range asked {
		s = s.WhenRefused(c, "period_archived").Then(again(start.Add(time.Hour)))
		s.WhenRefused(c, "subscription_not_found").Then(processmanagers.Output{})
	}
	s.WhenDue("again", start.Add(time.Hour)).Then(does(asked...))
}

func TestRefused_WhatALaterEventHasOvertakenIsForgotten(t *testing.T) {
	t.Parallel()
	withdraw := commands.WithdrawPeriod{SubscriptionID: line, InvoiceID: inv1, Reason: "the payment was taken back"}
	paid := events.InvoicePaid{SubscriberID: who, InvoiceID: inv1, SubscriptionID: line, At: start}
	s := after(t, prepaid(line)).WhenRefused(withdraw, "period_archived").WhenRefused(void(inv2), "invoice_not_found")
	s.When(events.InvoicePaid{SubscriberID: who, InvoiceID: inv2}).WhenDue("again", start).
		Then(does(withdraw, void(inv2)))
	s.When(paid).WhenDue("again", start).Then(does(void(inv2)))
	s.When(events.InvoiceReopened{SubscriberID: who, InvoiceID: inv1}).WhenDue("again", start).Then(does(void(inv2)))
	s.When(events.InvoiceVoided{SubscriberID: who, InvoiceID: inv2}).WhenDue("again", start).Then(does(withdraw))
	s.When(events.InvoiceCancelled{SubscriberID: who, InvoiceID: inv2}).WhenDue("again", start).Then(does(withdraw))
}

func TestEnded_AnInvoiceDraftedAfterTheEndIsVoidedAtOnce(t *testing.T) {
	t.Parallel()
	draft := events.InvoiceDrafted{SubscriberID: who, SubscriptionID: line, InvoiceID: inv1}
	lives := after(t, prepaid(line), due(line, inv1))
	lives.When(draft).ThenNothing()
	ended := lives.Given(events.SubscriptionEnded{SubscriptionID: line, SubscriberID: who}, neverBegan(line, inv1))
	ended = ended.WhenRefused(void(inv1), "invoice_not_found")
	ended.When(draft).Then(does(void(inv1)))
	ended.When(events.InvoiceDrafted{SubscriberID: who, InvoiceID: inv2}).ThenNothing()
}

func TestCredit_BelowWhatTheInvoiceAsksForWithTaxStaysCredit(t *testing.T) {
	t.Parallel()
	s := after(t, prepaid(line), due(line, inv1), taxed(line, inv1, kes(1500)), extended(line, inv1, until))
	s.When(credit(1500)).ThenNothing()
	if got := s.When(credit(1740)).Output(); len(got.Commands) != 1 {
		t.Errorf("credit that covers it: %+v", got)
	}
}

func TestProcess_EveryHandledEventHasTheSubscriberAsItsKey(t *testing.T) {
	t.Parallel()
	processtest.CheckKeys(t, renewal.Process(), who.String(),
		prepaid(line), due(line, inv1), events.PaidTimeCarriedOver{SubscriberID: who},
		events.PeriodCancelled{SubscriberID: who}, extended(line, inv1, until),
		events.PeriodWithdrawn{SubscriberID: who}, events.SubscriptionPaused{SubscriberID: who},
		events.SubscriptionResumed{SubscriberID: who}, events.SubscriptionEnded{SubscriberID: who},
		events.SubscriptionCompensated{SubscriberID: who}, events.CompensationTakenBack{SubscriberID: who},
		events.SubscriptionPlanChanged{SubscriberID: who}, events.ExtraAdded{SubscriberID: who},
		events.ExtraRemoved{SubscriberID: who}, part(inv1, 1),
		events.BillingSuspended{SubscriberID: who}, events.BillingResumed{SubscriberID: who},
		events.DunningBegan{DunningSubject: dunned}, events.WalledGardenEntered{DunningSubject: dunned},
		events.ServiceSuspended{DunningSubject: dunned}, events.WriteOffProposed{DunningSubject: dunned},
		events.DunningEnded{DunningSubject: dunned},
		events.PlanChangePlanned{SubscriberID: who}, events.PlanChangeDropped{SubscriberID: who},
		events.UndoneWaitEnded{SubscriberID: who},
		events.InvoicePaid{SubscriberID: who}, events.InvoiceReopened{SubscriberID: who},
		events.InvoiceVoided{SubscriberID: who}, events.InvoiceCancelled{SubscriberID: who},
		events.PeriodReissued{SubscriberID: who},
		events.InvoiceWrittenOff{SubscriberID: who}, credit(1), events.InvoiceDrafted{SubscriberID: who})
}

func TestProcess_SubscribersAndTheirCreditStayApart(t *testing.T) {
	t.Parallel()
	other := id.Derive[id.Subscriber]("test", "other")
	p := renewal.Process()
	for _, e := range []events.Event{
		events.CreditLeft{SubscriberID: other, Credit: kes(1500)}, events.InvoicePaid{SubscriberID: other},
		events.SubscriptionEnded{SubscriberID: other}, events.PeriodCancelled{SubscriberID: other},
	} {
		if key := p.Key(events.Envelope{Event: e}); key != other.String() {
			t.Errorf("%s is correlated by %q", e.EventType(), key)
		}
	}
}

func TestCancelled_PaidTimeThatIsTakenBackMovesTheTimer(t *testing.T) {
	t.Parallel()
	s := after(t, created(line, events.Prepaid, 50, calendar.Day), extended(line, inv1, until),
		extended(line, inv2, until.AddDate(0, 0, 1)))
	s.When(events.PeriodCancelled{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1, PaidUntil: until, At: start,
	}).Then(arms(line, until.Add(-2*time.Hour)))
}

func TestWithdrawn_TheInvoiceIsOpenAgainAndPaidTimeEndsEarlier(t *testing.T) {
	t.Parallel()
	earlier := until.AddDate(0, -1, 0)
	s := after(t, prepaid(line), extended(line, inv1, until)).When(events.PeriodWithdrawn{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1, PaidUntil: earlier,
	}).Then(arms(line, time.Time{}))
	s.When(credit(5000)).ThenNothing()
	s.When(events.PeriodCancelled{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 0, At: start.AddDate(0, -2, 0),
	}).Then(processmanagers.Output{ // without an ordinal it tells no paid time
		Commands: []commands.Command{
			commands.MakePeriodDue{SubscriptionID: line, On: calendar.Date{Year: 2026, Month: 3, Day: 2}},
			commands.TellCredit{SubscriberID: who},
		},
		Timers: leaves(line).Timers,
	})
}

func TestRefused_NothingElseIsForgotten(t *testing.T) {
	t.Parallel()
	s := after(t, prepaid(line), prepaid(line2), extended(line, inv1, until), extended(line2, inv2, until))
	s = s.WhenRefused(void(inv1), "invoice_not_found").WhenRefused(void(inv2), "invoice_not_found").
		WhenRefused(commands.CancelPeriod{SubscriptionID: line, InvoiceID: inv1}, "subscription_not_found")
	s = s.WhenDue(timer(line), until).Then(does(commands.MakePeriodDue{SubscriptionID: line, Rang: true}))
	s = s.WhenDue("again", start).Then(does(void(inv1), void(inv2)))
	if got := s.When(credit(5000)).Output(); len(got.Commands) != 1 {
		t.Errorf("after a repetition credit makes %+v", got)
	}
	drafted := after(t, prepaid(line)).WhenRefused(
		commands.CancelPeriod{SubscriptionID: line, InvoiceID: inv1}, "period_archived")
	drafted.When(events.InvoiceDrafted{SubscriberID: who, InvoiceID: inv1}).ThenNothing()
}

func TestCredit_OfAnotherCurrencyRenewsNothing(t *testing.T) {
	t.Parallel()
	foreign := events.CreditLeft{SubscriberID: who, Credit: money.Of(5_000_000, "UGX")}
	after(t, prepaid(line), extended(line, inv1, until)).When(foreign).ThenNothing()
}

func TestCredit_TheFirstToExpireIsRenewedWhateverItsId(t *testing.T) {
	t.Parallel()
	for _, first := range []id.Subscription{line, line2} {
		other := line
		if first == line {
			other = line2
		}
		after(t, prepaid(line), prepaid(line2), extended(first, inv1, until),
			extended(other, inv2, until.Add(time.Hour))).When(credit(5000)).
			Then(does(commands.MakePeriodDue{SubscriptionID: first}))
	}
}

func TestTimer_ANewPrepaidSubscriptionAndALatePostpaidOne(t *testing.T) {
	t.Parallel()
	first := arms(line, time.Time{}) // its first invoice is open
	expiry := processmanagers.Timer{Name: "expire:" + line.String(), At: start.AddDate(0, 0, 30)}
	first.Timers = append(first.Timers, expiry)
	after(t).When(prepaid(line)).Then(first).WhenDue(expiry.Name, expiry.At).
		Then(does(commands.ExpireSubscription{SubscriptionID: line}))
	s := after(t, created(line, events.Postpaid, 1500, calendar.Month))
	s.When(events.PeriodCancelled{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1, At: start.AddDate(0, 0, 9),
	}).Then(processmanagers.Output{ // postpaid periods go on although one was dropped
		Commands: []commands.Command{
			commands.MakePeriodDue{SubscriptionID: line, On: calendar.Date{Year: 2026, Month: 3, Day: 2}},
		},
		Timers: leaves(line).Timers,
	})
}

// asks is an output with the question for the account's credit.
func asks(out processmanagers.Output) processmanagers.Output {
	out.Commands = append(out.Commands, commands.TellCredit{SubscriberID: who})
	return out
}

// asked is the answer to it, in whole shillings.
func asked(major int64) events.Event {
	return events.CreditLeft{SubscriberID: who, Credit: kes(major), Asked: true}
}

func TestCredit_IsAskedForWhenASubscriptionLosesItsPeriod(t *testing.T) {
	t.Parallel()
	s := after(t, prepaid(line), due(line, inv1))
	s.When(credit(1500)).ThenNothing() // the payment came before the news that its invoice is gone
	s = s.When(events.PeriodCancelled{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1, At: start,
	}).Then(asks(arms(line, time.Time{})))
	s.When(asked(1499)).ThenNothing()
	s.When(asked(1500)).Then(does(commands.MakePeriodDue{SubscriptionID: line}))
}

func TestCredit_IsAskedForAfterAPause(t *testing.T) {
	t.Parallel()
	s := after(t, prepaid(line), due(line, inv1), extended(line, inv1, until),
		events.SubscriptionPaused{SubscriptionID: line, SubscriberID: who})
	gone := events.PeriodCancelled{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1, At: start}
	s = s.When(gone).Then(arms(line, time.Time{}))
	s.When(events.SubscriptionResumed{SubscriptionID: line, SubscriberID: who, At: start}).
		Then(asks(arms(line, time.Time{})))
}

func TestCredit_IsAskedForUntilEverySubscriptionThatItCoversIsRenewed(t *testing.T) {
	t.Parallel()
	s := after(t, prepaid(line), prepaid(line2)).When(credit(3000)).
		Then(does(commands.MakePeriodDue{SubscriptionID: line2})) // equal ones in the order of their ids
	s = s.When(due(line2, inv2)).Then(arms(line2, time.Time{}))
	s = s.When(extended(line2, inv2, until)).Then(asks(leaves(line2)))
	s = s.When(asked(1500)).Then(does(commands.MakePeriodDue{SubscriptionID: line}))
	s = s.When(due(line, inv1)).Then(arms(line, time.Time{}))
	s = s.When(extended(line, inv1, until)).Then(leaves(line))
	s.When(asked(1500)).ThenNothing() // both have service: money paid ahead is used period by period
}

func TestWrittenOff_ThePeriodEndsAndAPaymentBuysTheNextOne(t *testing.T) {
	t.Parallel()
	s := after(t, prepaid(line), due(line, inv1)).
		When(events.InvoiceWrittenOff{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1}).
		Then(does(commands.CancelPeriod{SubscriptionID: line, InvoiceID: inv1}))
	out, given := s.When(neverBegan(line, inv1)).Output(), void(inv1)
	given.Reason = "the period never began" // the subscription goes on
	if len(out.Commands) != 2 || out.Commands[0] != given {
		t.Errorf("money on it stays: %+v", out)
	}
	s.Given(neverBegan(line, inv1)).When(credit(1500)).Then(does(commands.MakePeriodDue{SubscriptionID: line}))
	s.When(events.InvoiceWrittenOff{SubscriberID: who, InvoiceID: inv2}).ThenNothing()
}

// docs/rules/subscribers.md#late-renewal
func TestPaid_TheTermOfLateRenewalsGoesIntoTheCommandAlsoWhenItIsRepeated(t *testing.T) {
	t.Parallel()
	fromExpiry := events.SubscriptionCreated{SubscriptionID: line, SubscriberID: who, StartsAt: start,
		Terms: events.PlanTerms{Mode: events.Prepaid, Price: kes(1500), Period: calendar.Month,
			LateRenewal: events.FromExpiry}}
	extend := commands.ExtendSubscription{
		SubscriptionID: line, InvoiceID: inv1, PaidAt: start, Late: events.FromExpiry,
	}
	after(t, fromExpiry, due(line, inv1)).
		When(events.InvoicePaid{SubscriberID: who, InvoiceID: inv1, SubscriptionID: line, At: start}).
		Then(does(extend)).
		WhenRefused(extend, "concurrent_change").
		Then(processmanagers.Output{Timers: []processmanagers.Timer{{Name: "again", At: start.Add(time.Hour)}}}).
		WhenDue("again", start.Add(time.Hour)).Then(does(extend))
}

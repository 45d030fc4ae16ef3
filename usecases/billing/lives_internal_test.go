package billingcases

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Bounds of a random life: how many there are, their steps, and how many events may follow from one day or step.
const (
	randomLives = 400
	lifeSteps   = 30
	mostEvents  = 4000
)

// life is a customer with some services to whom things happen at random.
type life struct {
	worked

	random   *rand.Rand
	receipts []id.Receipt
	runs     []undoneRun // newest last
	did      []string
	paidAt   map[id.Invoice]time.Time // first payment of each period
	bought   map[id.Invoice]time.Time // those since the last look
	n        int
}

// undoneRun is one that was taken back, of one of the services.
type undoneRun struct {
	line int
	run  id.BillingRun
	day  calendar.Date // of the run, by which it is asked for again
}

// TestLives_WhateverHappensMoneyAndTimeAgree leads customers with one to three services, prepaid and postpaid, with and
// without a billing day, through payments, reversals, undone runs, pauses, other plans, compensations and credit notes
// in any order. After each step, what is paid on the account is paid time of a service and the other way round, paid
// times do not overlap, no time that had passed was sold, and neither days nor money ever take paid time away. At the
// end nothing is left that rings.
func TestLives_WhateverHappensMoneyAndTimeAgree(t *testing.T) {
	t.Parallel()
	for seed := range uint64(randomLives) {
		l := newLife(t, seed)
		for range lifeSteps {
			l.step()
			if l.check(); t.Failed() {
				t.Fatalf("seed %d:\n%s", seed, l.told())
			}
		}
		if l.over(); t.Failed() {
			t.Fatalf("seed %d at its end:\n%s", seed, l.told())
		}
	}
}

// newLife begins with one to three services.
func newLife(t *testing.T, seed uint64) *life {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 10))
	days := []int{0, 0, 1, 15, 28}
	plan := func() events.PlanTerms {
		mode := events.Prepaid
		if random.IntN(4) == 0 {
			mode = events.Postpaid
		}
		plan := terms(mode, days[random.IntN(len(days))])
		if mode == events.Prepaid && random.IntN(3) == 0 {
			plan.LateRenewal = events.FromExpiry
		}
		if mode == events.Prepaid && plan.AnchorDay == 0 && random.IntN(2) == 0 {
			plan.PartialPayment = events.PartIsDays
		}
		return plan
	}
	l := &life{
		worked: sold(t, plan()), random: random, paidAt: map[id.Invoice]time.Time{}, bought: map[id.Invoice]time.Time{},
	}
	l.hears = func(e events.Event) {
		paid, is := e.(events.SubscriptionExtended)
		if _, again := l.paidAt[paid.InvoiceID]; is && !again {
			l.paidAt[paid.InvoiceID], l.bought[paid.InvoiceID] = paid.PaidAt, paid.PaidAt
		}
	}
	for n := range random.IntN(3) {
		l.until(l.at.Add(time.Duration(random.IntN(20*24)) * time.Hour))
		l.does(commands.CreateSubscription{
			SubscriptionID: id.Derive[id.Subscription]("life", fmt.Sprint(n)), OrgID: l.line.Owner,
			SubscriberID: l.line.SubscriberID, Timezone: l.settings.Timezone, PlanVersion: 1, Terms: plan(),
			Tax: l.settings.Tax,
		})
	}
	return l
}

// told lists what happened.
func (l *life) told() (text string) {
	for _, s := range l.did {
		text += s + "\n"
	}
	for i, line := range l.lines {
		text += fmt.Sprintf("service %d %s day %d, paid until %s\n", i, line.Terms.Mode, line.Terms.AnchorDay,
			line.PaidUntil())
		for n, p := range line.Periods {
			place := line.Course().Places[n]
			text += fmt.Sprintf("  %d %s %s to %s\n", p.Ordinal, p.State, place.From, place.To)
		}
	}
	return text + fmt.Sprintf("credit %s, due %s", l.account.Credit(), l.account.Due())
}

// will remembers what is about to happen.
func (l *life) will(format string, args ...any) {
	l.did = append(l.did, l.at.In(nairobi).Format("2006-01-02 15:04:05 ")+fmt.Sprintf(format, args...))
}

// asks executes what a person asks for, which may be refused, and lets everything follow.
func (l *life) asks(c commands.Command) bool {
	err := l.execute(c)
	if err != nil && failure.CodeOf(err) == "" {
		l.t.Errorf("%T: %v", c, err)
	}
	l.settle()
	return err == nil
}

// step does one thing at random.
func (l *life) step() {
	l.n++
	if l.random.IntN(10) == 0 {
		l.reopens()
	}
	at := l.random.IntN(len(l.lines))
	was := make([]time.Time, len(l.lines))
	for i, s := range l.lines {
		was[i] = s.PaidUntil()
	}
	switch l.random.IntN(14) {
	case 0, 1, 2, 3:
		l.waits()
	case 4, 5, 6:
		l.brings()
	case 7:
		l.reverses()
		return
	case 8:
		l.takesBack(at)
		return
	case 9:
		l.runsAgain()
	case 10:
		l.pauses(at)
	case 11:
		l.credits()
		return
	case 12:
		l.changesPlan(at)
		return
	case 13:
		l.compensates(at)
	}
	for i, s := range l.lines {
		if s.Terms.Mode == events.Prepaid && s.PaidUntil().Before(was[i]) { // others have their time without money
			l.t.Errorf("service %d was paid until %s, and is until %s", i, was[i], s.PaidUntil())
		}
	}
}

// reopens has the streams of the services and of the account go on in new ones.
func (l *life) reopens() {
	for _, line := range l.lines {
		d := subscribers.Subscriptions()
		*line = d.Evolve(subscribers.Subscription{}, d.Close(*line))
	}
	d := billing.Accounts()
	l.account = d.Evolve(billing.Account{}, d.Close(l.account))
}

// waits lets some time pass: minutes to weeks, or up to the end of a paid time.
func (l *life) waits() {
	to := l.at.Add(time.Duration(1+l.random.IntN(40*24*60)) * time.Minute)
	switch l.random.IntN(4) {
	case 0:
		to = l.at.Add(time.Duration(1+l.random.IntN(180)) * time.Minute)
	case 1:
		if until := l.lines[l.random.IntN(len(l.lines))].PaidUntil(); until.After(l.at) {
			to = until.Add(time.Duration(l.random.IntN(3)-1) * time.Second)
		}
	}
	if to.Before(l.at) {
		return
	}
	l.will("wait until %s", to.In(nairobi).Format("2006-01-02 15:04:05"))
	l.until(to)
}

// brings money: what is due, a price or two, or some.
func (l *life) brings() {
	amount := money.Major([]int64{1500, 1500, 3000, 700, 4500}[l.random.IntN(5)], money.KES)
	if due := l.account.Due(); due.Positive() && l.random.IntN(2) == 0 {
		amount = due
	}
	l.will("pay %s", amount)
	receipt := id.Derive[id.Receipt]("life", fmt.Sprint(l.n))
	l.receipts = append(l.receipts, receipt)
	l.does(commands.CreditReceipt{
		SubscriberID: l.line.SubscriberID, OrgID: l.line.Owner, Number: fmt.Sprint("R", l.n), Channel: "cash",
		Amount: amount, PaidAt: l.at, ReceiptID: receipt,
	})
}

// reverses takes one of the last payments back.
func (l *life) reverses() {
	if len(l.receipts) == 0 {
		return
	}
	i := max(0, len(l.receipts)-1-l.random.IntN(3))
	l.will("take payment %d back", i)
	l.does(commands.WithdrawReceipt{ReceiptID: l.receipts[i], SubscriberID: l.line.SubscriberID})
	l.receipts = slices.Delete(l.receipts, i, i+1)
}

// takesBack undoes the run that made the newest period of a service, as far as the program would.
func (l *life) takesBack(at int) {
	line := l.lines[at]
	for _, p := range slices.Backward(line.Periods) {
		if _, found := l.account.Invoices[p.InvoiceID]; p.State == subscribers.PeriodCancelled || !found {
			continue
		}
		run := id.Derive[id.BillingRun]("life", p.InvoiceID.String())
		undo := commands.UndoPeriod{SubscriptionID: line.ID, InvoiceID: p.InvoiceID, RunID: run}
		back := commands.TakeBackInvoice{
			SubscriberID: line.SubscriberID, InvoiceID: p.InvoiceID, Reason: "run", Prefix: "ACME-CN",
			CreditNoteID: id.Derive[id.Receipt]("life", run.String()),
		}
		if _, err := line.Undoing(undo, l.at); err != nil {
			return
		}
		if _, err := l.account.TakingBack(back, l.at); err != nil {
			return
		}
		l.will("undo period %d of service %d", p.Ordinal, at)
		if l.asks(undo) {
			back.Dropped = true
			l.asks(back)
			l.runs = append(l.runs, undoneRun{at, run, calendar.On(l.draftedAt(p.InvoiceID), nairobi)})
		}
		return
	}
}

// pauses pauses a service, or resumes it.
func (l *life) pauses(at int) {
	l.will("pause or resume service %d", at)
	if line := l.lines[at]; !l.asks(commands.PauseSubscription{SubscriptionID: line.ID, Reason: "life"}) {
		l.asks(commands.ResumeSubscription{SubscriptionID: line.ID, Reason: "life"})
	}
}

// draftedAt is when an invoice was made.
func (l *life) draftedAt(of id.Invoice) time.Time {
	for _, i := range l.invoices {
		if i.InvoiceID == of {
			return i.DraftedAt
		}
	}
	return l.at
}

// runsAgain makes what one of the undone runs has taken back.
func (l *life) runsAgain() {
	if len(l.runs) == 0 {
		return
	}
	run := l.runs[l.random.IntN(len(l.runs))]
	l.will("the run of service %d again", run.line)
	l.asks(commands.MakePeriodDue{
		SubscriptionID: l.lines[run.line].ID, On: run.day, RunID: run.run, Again: true,
	})
	if line := l.lines[run.line]; line.Undone == run.run && line.State != subscribers.Ended {
		l.t.Errorf("service %d waits for its run although it was asked for", run.line)
	}
	l.until(l.at.Add(time.Minute)) // the processes draft what a run has left
}

// changesPlan gives a service another price, now or from its next period on.
func (l *life) changesPlan(at int) {
	line := l.lines[at]
	to := commands.NewPlan{PlanID: id.Derive[id.Plan]("life", fmt.Sprint(l.n)), Version: 1, Terms: line.Terms}
	to.Terms.Price = money.Major([]int64{900, 1500, 3000}[l.random.IntN(3)], money.KES)
	to.Terms.Name = "Home " + to.Terms.Price.String()
	change, err := line.PlanChange(to, l.at)
	if err != nil {
		return
	}
	l.will("service %d gets the plan of %s", at, to.Terms.Price)
	l.asks(commands.ChangePlan{SubscriptionID: line.ID, NewPlan: to, Preview: change.Preview})
}

// compensates gives a service the time of an outage of some hours or days before.
func (l *life) compensates(at int) {
	hours := 1 + l.random.IntN(72)
	l.will("compensate service %d for %d hours", at, hours)
	l.asks(commands.CompensateSubscription{
		SubscriptionID: l.lines[at].ID, CompensationID: id.Derive[id.Compensation]("life", fmt.Sprint(l.n)),
		From: l.at.Add(-time.Duration(hours) * time.Hour), To: l.at, Give: events.CompensationGive{Proportional: true},
	})
}

// credits credits a part of an invoice, or the whole.
func (l *life) credits() {
	if len(l.invoices) == 0 {
		return
	}
	of := l.invoices[max(0, len(l.invoices)-1-l.random.IntN(3))]
	amount := of.Total
	if l.random.IntN(2) == 0 {
		amount = money.Major(100, money.KES)
	}
	l.will("credit %s of an invoice of %s", amount, of.Total)
	l.asks(commands.DraftCreditNote{
		SubscriberID: l.line.SubscriberID, InvoiceID: of.InvoiceID, Reason: "life", Prefix: "ACME-CN",
		CreditNoteID: id.Derive[id.Receipt]("life note", fmt.Sprint(l.n)), Amount: amount,
	})
}

// check compares the account with the services.
func (l *life) check() {
	l.checked = l.heard
	for n, line := range l.lines {
		course := line.Course()
		var end time.Time
		for i, p := range line.Periods {
			invoice, found := l.account.Invoices[p.InvoiceID]
			paid := found && invoice.Paid && !invoice.Cancelled
			if _, settled := l.account.Settled[p.InvoiceID]; settled {
				paid = true
			}
			if p.State != subscribers.PeriodCancelled && paid != (p.State == subscribers.PeriodPaid) {
				l.t.Errorf("period %d of service %d is %s, its invoice paid: %v", p.Ordinal, n, p.State, paid)
			}
			place := course.Places[i]
			if p.Mode != events.Prepaid || p.State != subscribers.PeriodPaid {
				continue
			}
			if place.From.Before(end) || !place.From.Before(place.To) {
				l.t.Errorf("period %d of service %d begins %s, before %s", p.Ordinal, n, place.From, end)
			}
			at, now := l.bought[p.InvoiceID]
			if line.State == subscribers.Paused && at.After(line.PausedAt) {
				at = line.PausedAt
			}
			if now && line.State != subscribers.Ended && !l.covered(line, i) && !place.To.After(at) {
				l.t.Errorf("period %d of service %d was paid when it was over", p.Ordinal, n)
			}
			end = place.To
		}
	}
	clear(l.bought)
	if l.account.Credit().Positive() && l.account.Due().Positive() {
		l.t.Errorf("credit %s while %s is due", l.account.Credit(), l.account.Due())
	}
}

// covered reports whether the time of a period may have passed when it is paid: days of it were given back, or it pays
// for time that an earlier one had before its payment was taken back.
func (l *life) covered(line *subscribers.Subscription, at int) bool {
	p := line.Periods[at]
	return p.Retakes || p.Free > 0 || slices.ContainsFunc(line.Periods[:at], func(p subscribers.Period) bool {
		return p.State == subscribers.PeriodWithdrawn
	})
}

// over ends all services, and looks for what still rings.
func (l *life) over() {
	for i, line := range l.lines {
		l.will("end service %d", i)
		l.asks(commands.EndSubscription{SubscriptionID: line.ID, Reason: "life"})
	}
	l.until(l.at.AddDate(0, 3, 0))
	l.check()
	made := len(l.invoices)
	l.until(l.at.AddDate(0, 3, 0))
	if len(l.invoices) != made {
		l.t.Errorf("%d invoices after the end", len(l.invoices)-made)
	}
	for _, p := range l.processes {
		for key, i := range p.each {
			if len(i.timers) > 0 {
				l.t.Errorf("%s %s still rings: %v\n%s", p.Name, key, i.timers, i.state)
			}
		}
	}
}

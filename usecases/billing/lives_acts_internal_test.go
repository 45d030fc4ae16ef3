package billingcases

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// busyLife is a life in which people do more: they give days and money, move plans and take that back, charge extras,
// correct and void invoices, and give debts up; and customers are cut off.
type busyLife struct {
	*life
	given []busyAct[id.Compensation]
	moves []busyAct[id.PlanMove]
	extra []busyAct[events.Extra]
	// corrected are for periods that may have been paid, and used, with another invoice.
	corrected []id.Invoice
}

// busyAct is something that one of the services got, and that can be taken back.
type busyAct[T any] struct {
	line int
	of   T
}

// TestLives_WhateverPeopleDoNoPaidTimeGoes leads lives in which half of the steps are acts that leave the money of
// others alone. They take no paid time away, and move no paid period to where it ends before.
func TestLives_WhateverPeopleDoNoPaidTimeGoes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(randomLives) {
		l := &busyLife{life: newLife(t, seed)}
		for _, line := range l.lines {
			if line.Terms.Mode == events.Postpaid {
				line.Terms.BillWhileSuspended = []events.SuspendedBilling{
					events.BillAll, events.BillNothing, events.BillUsedDays,
				}[seed%3]
			}
		}
		for range lifeSteps {
			if l.random.IntN(2) == 0 {
				l.step()
			} else {
				l.acts()
			}
			for _, of := range l.corrected {
				delete(l.bought, of)
			}
			if l.check(); t.Failed() {
				t.Fatalf("seed %d:\n%s", seed, l.told())
			}
		}
		if l.over(); t.Failed() {
			t.Fatalf("seed %d at its end:\n%s", seed, l.told())
		}
	}
}

// acts does one thing at random. What takes an invoice back, or may, can take paid time back with it.
func (l *busyLife) acts() {
	l.n++
	at := l.random.IntN(len(l.lines))
	takes := []func(){l.takesCompensationBack, l.corrects, l.voids, l.givesUp}
	keeps := []func(int){l.givesDays, l.givesTime, l.givesMoney, l.adds, l.removes, l.movesOn, l.movesBack, l.cutsOff}
	n := l.random.IntN(len(takes) + len(keeps))
	if n < len(takes) {
		takes[n]()
		return
	}
	was := make([]subscribers.Subscription, len(l.lines))
	for i, line := range l.lines {
		was[i] = *line
	}
	keeps[n-len(takes)](at)
	for i, line := range l.lines {
		if line.Terms.Mode == events.Prepaid {
			l.kept(was[i], *line)
		}
	}
}

// kept fails when a prepaid service lost paid time.
func (l *busyLife) kept(was, is subscribers.Subscription) {
	if is.PaidUntil().Before(was.PaidUntil()) {
		l.t.Errorf("paid until %s, and now until %s", was.PaidUntil(), is.PaidUntil())
	}
	before, after := was.Course(), is.Course()
	for i, p := range was.Periods {
		same := p.State == subscribers.PeriodPaid && is.Periods[i].State == subscribers.PeriodPaid
		if same && after.Places[i].To.Before(before.Places[i].To) {
			l.t.Errorf("period %d was at %v and is at %v", p.Ordinal, before.Places[i], after.Places[i])
		}
	}
}

// compensatesWith gives a service something for some hours before.
func (l *busyLife) compensatesWith(at, hours int, give events.CompensationGive) {
	of := id.Derive[id.Compensation]("busy", fmt.Sprint(l.n))
	l.will("compensate service %d for %d hours by %+v", at, hours, give)
	if l.asks(commands.CompensateSubscription{
		SubscriptionID: l.lines[at].ID, CompensationID: of, From: l.at.Add(-time.Duration(hours) * time.Hour),
		To: l.at, Give: give,
	}) {
		l.given = append(l.given, busyAct[id.Compensation]{at, of})
	}
}

// givesDays gives up to three weeks for an hour.
func (l *busyLife) givesDays(at int) {
	l.compensatesWith(at, 1, events.CompensationGive{Days: 1 + l.random.IntN(20)})
}

// givesTime gives back the time of an outage of up to a month.
func (l *busyLife) givesTime(at int) {
	l.compensatesWith(at, 1+l.random.IntN(30*24), events.CompensationGive{Proportional: true})
}

// givesMoney gives up to the price of a month for an hour.
func (l *busyLife) givesMoney(at int) {
	amount := money.Major(int64(100*(1+l.random.IntN(15))), money.KES)
	l.compensatesWith(at, 1, events.CompensationGive{Money: amount})
}

// takesCompensationBack takes given time off again; what was given in money stays, and is charged by hand.
func (l *busyLife) takesCompensationBack() {
	if len(l.given) == 0 {
		return
	}
	g := l.given[l.random.IntN(len(l.given))]
	l.will("take a compensation of service %d back", g.line)
	l.asks(commands.TakeBackCompensation{SubscriptionID: l.lines[g.line].ID, CompensationID: g.of})
}

// adds gives a service a charge, an add-on or a discount.
func (l *busyLife) adds(at int) {
	x := []events.Extra{
		{Kind: events.ChargeExtra, Amount: money.Major(200, money.KES), Periods: 1},
		{Kind: events.AddOnExtra, Amount: money.Major(300, money.KES)},
		{Kind: events.DiscountExtra, Amount: money.Major(400, money.KES), Periods: l.random.IntN(3)},
		{Kind: events.DiscountExtra, BasisPoints: 2500, Until: calendar.On(l.at.AddDate(0, 1, 0), nairobi)},
	}[l.random.IntN(4)]
	x.ID = id.Derive[id.Extra]("busy", fmt.Sprint(l.n))
	l.will("service %d gets %+v", at, x)
	if l.asks(commands.AddExtra{SubscriptionID: l.lines[at].ID, Extra: x, Description: personal.Of("x")}) {
		l.extra = append(l.extra, busyAct[events.Extra]{at, x})
	}
}

// removes takes an extra off the later periods.
func (l *busyLife) removes(int) {
	if len(l.extra) == 0 {
		return
	}
	x := l.extra[l.random.IntN(len(l.extra))]
	l.will("service %d loses %+v", x.line, x.of)
	l.asks(commands.RemoveExtra{SubscriptionID: l.lines[x.line].ID, ExtraID: x.of.ID, Kind: x.of.Kind})
}

// movesOn moves a service to a version of its plan with another price.
func (l *busyLife) movesOn(at int) {
	line := l.lines[at]
	to := commands.NewPlan{PlanID: line.PlanID, Version: 2 + l.n, Terms: line.Terms}
	to.Terms.Price = money.Major([]int64{900, 1500, 3000}[l.random.IntN(3)], money.KES)
	of := id.Derive[id.PlanMove]("busy", fmt.Sprint(l.n))
	l.will("move service %d to %s", at, to.Terms.Price)
	if l.asks(commands.MovePlan{SubscriptionID: line.ID, NewPlan: to, MoveID: of}) {
		l.moves = append(l.moves, busyAct[id.PlanMove]{at, of})
	}
}

// movesBack takes one of the moves back.
func (l *busyLife) movesBack(int) {
	if len(l.moves) == 0 {
		return
	}
	m := l.moves[l.random.IntN(len(l.moves))]
	l.will("take a move of service %d back", m.line)
	l.asks(commands.UndoPlanMove{SubscriptionID: l.lines[m.line].ID, MoveID: m.of})
}

// cutsOff tells a postpaid service that its customer is cut off, or is served again.
func (l *busyLife) cutsOff(at int) {
	line := l.lines[at]
	switch {
	case !line.Suspended.IsZero():
		l.will("serve service %d again", at)
		l.asks(commands.ResumeBilling{SubscriptionID: line.ID, At: l.at})
	case line.Terms.Mode == events.Postpaid:
		l.will("cut service %d off", at)
		l.asks(commands.SuspendBilling{SubscriptionID: line.ID, At: l.at})
	}
}

// corrects reissues one of the newest invoices with another price.
func (l *busyLife) corrects() {
	of := l.invoices[max(0, len(l.invoices)-1-l.random.IntN(3))]
	price := money.Major([]int64{900, 1500, 2000}[l.random.IntN(3)], money.KES)
	l.will("reissue an invoice of %s with %s", of.Total, price)
	corrected := id.Derive[id.Invoice]("busy", fmt.Sprint(l.n))
	l.asks(commands.ReissueInvoice{
		InvoiceID: of.InvoiceID, CreditNoteID: id.Derive[id.Receipt]("busy", fmt.Sprint(l.n)),
		NotePrefix: "ACME-CN", Reason: "busy",
		Corrected: commands.DraftInvoice{
			SubscriberID: l.line.SubscriberID, OrgID: l.line.Owner, InvoiceID: corrected, Currency: money.KES,
			Lines: []commands.LineInput{{Description: "Home", Quantity: "1", UnitPrice: price}}, Tax: l.settings.Tax,
			Prefix: "ACME", DueOn: of.DueOn,
		},
	})
	l.corrected = append(l.corrected, corrected)
}

// voids voids one of the newest invoices.
func (l *busyLife) voids() {
	of := l.invoices[max(0, len(l.invoices)-1-l.random.IntN(3))]
	l.will("void an invoice of %s", of.Total)
	l.asks(commands.VoidInvoice{SubscriberID: l.line.SubscriberID, InvoiceID: of.InvoiceID, Reason: "busy"})
}

// givesUp writes off all that is due, or a part.
func (l *busyLife) givesUp() {
	var amount money.Amount
	if l.random.IntN(2) == 0 {
		amount = money.Major(100, money.KES)
	}
	l.will("write %s off", amount)
	l.asks(commands.WriteOffDebt{
		SubscriberID: l.line.SubscriberID, WriteOffID: id.Derive[id.Receipt]("busy loss", fmt.Sprint(l.n)),
		Amount: amount, Reason: "busy",
	})
}

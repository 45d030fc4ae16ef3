package bookscases_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers/access/topups"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/receipts"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/refunds"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/planchange"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/renewal"
)

// simulation is a world in which the real processes follow up on events. Their instances run in an order that chance
// chooses; each takes its own inputs, and sends its own commands, in order. The same draws give the same course.
type simulation struct {
	*world
	draw          *rapid.T
	who           []id.Subscriber // Amina and Brian
	workers       []worker
	moving        *instances    // of the process that brings receipts to accounts
	dunned        *dunned       // nil = without dunning
	pace          time.Duration // how long each thing takes that a process does
	subscriptions []id.Subscription
	invoices      []id.Invoice // all that were drafted, of both subscribers
	payments      []id.Receipt
	setAside      []id.Refund
	served        map[id.Subscription]time.Duration     // how long there was paid service
	whole         map[id.Subscription][]events.TimeSpan // when there was service, paid or in the grace, as it was then
	given         map[id.Subscription]bool              // a served period was cancelled: its time was a gift
	billingDays   bool                                  // months of some subscriptions end on a fixed day
	made          int                                   // number of ids made so far
	trace         []entry                               // what happened, for the person who looks at a failure
}

// entry is one line of a trace. It is written out only when the test fails.
type entry struct {
	format string
	args   []any
}

// newSimulation has two subscribers without subscriptions.
func newSimulation(t *rapid.T) *simulation {
	s := &simulation{
		world: emptyWorld(t), draw: t, served: map[id.Subscription]time.Duration{},
		given: map[id.Subscription]bool{}, whole: map[id.Subscription][]events.TimeSpan{},
	}
	s.org, s.amina, s.brian = made[id.Organization](s), made[id.Subscriber](s), made[id.Subscriber](s)
	s.who = []id.Subscriber{s.amina, s.brian}
	s.moving = newInstances(s, receipts.Process())
	s.workers = []worker{
		newInstances(s, renewal.Process()), newInstances(s, invoicing.Process()),
		newInstances(s, invoicing.DocumentProcess()), newInstances(s, topups.Process()), s.moving,
		newInstances(s, refunds.Process()), newInstances(s, planchange.Process()), &numberer{s: s}, &runs{s: s},
	}
	s.heard = s.hear
	return s
}

// made is a new id that a repetition of the same draws gives again.
func made[T ~[16]byte](s *simulation) T {
	s.made++
	return id.Derive[T]("simulation", fmt.Sprint(s.made))
}

// note adds a line to the trace.
func (s *simulation) note(format string, args ...any) { s.trace = append(s.trace, entry{format, args}) }

// fail ends the test with the trace.
func (s *simulation) fail(format string, args ...any) {
	s.t.Helper()
	var text strings.Builder
	for _, e := range s.trace {
		fmt.Fprintf(&text, e.format+"\n", e.args...)
	}
	s.t.Log(text.String())
	s.t.Fatalf(format, args...)
}

// hear hands an event to the processes, and remembers what operations can name.
func (s *simulation) hear(e events.Envelope) {
	s.note("    %s %+v", e.Type, e.Event)
	switch v := e.Event.(type) {
	case events.InvoiceDrafted:
		s.invoices = append(s.invoices, v.InvoiceID)
	case events.SubscriptionCreated:
		s.subscriptions = append(s.subscriptions, v.SubscriptionID)
	case events.ReceiptRecorded:
		s.payments = append(s.payments, v.ReceiptID)
	case events.CreditSetAside:
		s.setAside = append(s.setAside, v.RefundID)
	case events.PeriodCancelled:
		if !v.NeverBegan {
			s.given[v.SubscriptionID], s.whole[v.SubscriptionID] = true, nil
		}
	default: // no operation names it
	}
	for _, w := range s.workers {
		w.hear(e)
	}
}

// errUnknownCommand is a command that no rules of the simulation take.
var errUnknownCommand = errors.New("unknown command")

// execute decides a command of a process or a person, with what the program adds to it on its way.
func (s *simulation) execute(c commands.Command) error {
	s.note("  %s %+v", c.CommandName(), c)
	err := c.Validate()
	if err != nil {
		s.fail("%s: %v", c.CommandName(), err)
	}
	switch c := c.(type) {
	case commands.DraftPeriodInvoice:
		if len(c.Change) > 0 {
			_, err = s.accounts.try(s.draftChange(c))
			break
		}
		draft := s.draft(c.InvoiceID, c.SubscriberID, c.Price, c.DueAt)
		draft.SubscriptionID, draft.PeriodFrom, draft.PeriodTo = c.SubscriptionID, c.PeriodFrom, c.PeriodTo
		_, err = s.accounts.try(draft)
	case commands.CreditDays:
		c.Prefix = "ACME-CN"
		_, err = s.accounts.try(c)
	case commands.VoidOrders:
		c.NotePrefix = "ACME-CN"
		_, err = s.accounts.try(c)
	case commands.VoidInvoice:
		if c.ReleaseMoney {
			c.NotePrefix = "ACME-CN"
		}
		_, err = s.accounts.try(c)
	case commands.AccountCommand:
		_, err = s.accounts.try(c)
	case commands.ExtendSubscription:
		if c.Late == events.FromExpiry {
			c.Served = s.servedUntil(c.SubscriptionID, c.PaidAt)
		}
		_, err = s.subs.try(c)
	case commands.SubscriptionCommand:
		_, err = s.subs.try(c)
	case commands.RefundCommand:
		_, err = s.payouts.try(c)
	case commands.ReceiptCommand:
		_, err = s.receipts.try(c)
	case commands.DunningCommand:
		err = s.dunned.decide(c)
	case commands.NumberingCommand:
		_, err = s.series.try(c)
	default:
		err = errUnknownCommand
	}
	switch {
	case errors.Is(err, errUnknownCommand):
		s.fail("%s: %v", c.CommandName(), err)
	case err != nil:
		s.note("    refused: %v", err)
	}
	return err
}

// must executes commands one after the other and lets everything follow each. None may be refused.
func (s *simulation) must(list ...commands.Command) {
	s.t.Helper()
	for _, c := range list {
		if err := s.execute(c); err != nil {
			s.fail("%s: %v", c.CommandName(), err)
		}
		s.rest()
	}
}

// subscribe makes a subscription for 1,000.
func (s *simulation) subscribe(who id.Subscriber, mode events.BillingMode, unit calendar.Period) {
	c := s.subscription(made[id.Subscription](s), who, mode, unit)
	if mode == events.Prepaid {
		c.Terms.LateRenewal = rapid.SampledFrom([]events.LateRenewal{"", events.FromExpiry}).Draw(s.draw, "renews late")
	}
	if unit == calendar.Month && s.billingDays {
		c.Terms.AnchorDay = rapid.SampledFrom([]int{0, 0, 1, 15, 28}).Draw(s.draw, "billing day")
	}
	s.must(c)
}

// grace is how long there is service after the paid time; the subscriptions are never cut before.
const grace = 3 * 24 * time.Hour

// servedUntil gives the times of service since the end of the paid time, as the use case adds them to a payment.
func (s *simulation) servedUntil(of id.Subscription, at time.Time) []events.TimeSpan {
	var list []events.TimeSpan
	for _, t := range s.whole[of] {
		t.From, t.To = later(t.From, s.line(of).PaidUntil()), sooner(t.To, at)
		if t.From.Before(t.To) {
			list = append(list, t)
		}
	}
	return list
}

// later is the second of two instants.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// sooner is the first of two instants.
func sooner(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// cash is money that a subscriber brings.
func (s *simulation) cash(who id.Subscriber, units int64) commands.RecordCash {
	receipt := made[id.Receipt](s)
	return commands.RecordCash{
		ReceiptID: receipt, OrgID: s.org, SubscriberID: who, Amount: kes(units), Reference: "slip " + receipt.String(),
	}
}

// givesBack is a credit note over some units of an invoice; 0 = all that is left of it.
func (s *simulation) givesBack(who id.Subscriber, of id.Invoice, units int64) commands.DraftCreditNote {
	return commands.DraftCreditNote{
		SubscriberID: who, CreditNoteID: made[id.Receipt](s), InvoiceID: of, Amount: kes(units), Reason: "outage",
		Prefix: "ACME-CN",
	}
}

// account is the present state of a subscriber's account.
func (s *simulation) account(of id.Subscriber) billing.Account {
	return s.accounts.states[id.As[id.Any](of)]
}

// receipt is the present state of a receipt.
func (s *simulation) receipt(of id.Receipt) payments.Receipt {
	return s.receipts.states[id.As[id.Any](of)]
}

// line is the present state of a subscription.
func (s *simulation) line(of id.Subscription) subscribers.Subscription {
	return s.subs.states[id.As[id.Any](of)]
}

// mostSteps is more than any simulation takes until it rests. One that takes more goes round in circles.
const mostSteps = 20_000

// rest lets the processes work until nothing waits but timers.
func (s *simulation) rest() {
	for range mostSteps {
		if !s.step() {
			return
		}
	}
	s.fail("the processes do not come to rest")
}

// step lets one lane that chance chooses do one thing. It is false when nothing waits.
func (s *simulation) step() bool {
	s.until(s.now.Add(s.pace))
	var all []lane
	for _, w := range s.workers {
		all = append(all, w.lanes()...)
	}
	if len(all) == 0 {
		return false
	}
	chosen := 0
	if len(all) > 1 {
		chosen = rapid.IntRange(0, len(all)-1).Draw(s.draw, "lane")
	}
	all[chosen].step()
	return true
}

// elapse lets everything follow, and then time pass: timers come due one after the other, and everything follows each.
func (s *simulation) elapse(d time.Duration) {
	s.rest()
	for end := s.now.Add(d); ; s.rest() {
		next, found := s.nextTimer()
		if !found || next.at.After(end) {
			s.until(end)
			s.note("now it is %s", s.now)
			return
		}
		s.until(next.at)
		s.note("  at %s timer %s", s.now, next.name)
		next.fire()
	}
}

// until moves the clock, never back, and counts the service in the meantime.
func (s *simulation) until(at time.Time) {
	if !at.After(s.now) {
		return
	}
	for _, of := range s.subscriptions {
		line, end := s.line(of), at
		if paid := line.PaidUntil(); paid.Before(end) {
			end = paid
		}
		if line.State == subscribers.Active && end.After(s.now) {
			s.served[of] += end.Sub(s.now)
		}
		if until := sooner(at, line.PaidUntil().Add(grace)); line.State == subscribers.Active && until.After(s.now) {
			s.whole[of] = append(s.whole[of], events.TimeSpan{From: s.now, To: until})
		}
	}
	s.now = at
}

// nextTimer is the armed timer that comes due first. It is false when none is armed.
func (s *simulation) nextTimer() (first alarm, found bool) {
	for _, w := range s.workers {
		if a, armed := w.first(); armed && (!found || a.at.Before(first.at)) {
			first, found = a, true
		}
	}
	return first, found
}

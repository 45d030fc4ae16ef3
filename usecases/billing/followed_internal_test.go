package billingcases

import (
	"fmt"
	"maps"
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
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/renewal"
)

// followed is a customer with subscriptions and an account. The processes of the program follow up on what happens,
// and each day has its billing run.
type followed struct {
	t         *testing.T
	settings  events.BillingSettings
	line      *subscribers.Subscription // the first one
	lines     []*subscribers.Subscription
	account   billing.Account
	at        time.Time
	invoices  []events.InvoiceDrafted
	notes     []note
	processes []*process
	told      []events.Event // what the processes have not heard yet
	heard     int
	checked   int                             // how many a test had heard when it looked last
	hears     func(events.Event)              // nil = nobody listens
	before    func(*subscribers.Subscription) // is there before a command changes one; nil = nothing is
}

// note is a credit note over days: those that it credits, or those of which it leaves the invoice.
type note struct {
	events.CreditNoteDrafted
	credits events.DaysCredit
}

// process is one of the processes with all of its instances, by key.
type process struct {
	processmanagers.Erased
	each map[string]*instance
}

// instance is the stored state of one, which is nil before it begins and after it has ended, and its armed timers.
type instance struct {
	state  []byte
	timers map[string]time.Time
}

// follow begins with no subscription, at an instant.
func follow(t *testing.T, settings events.BillingSettings, at time.Time) *followed {
	t.Helper()
	first := new(subscribers.Subscription)
	f := &followed{t: t, settings: settings, at: at, line: first, lines: []*subscribers.Subscription{first}}
	for _, p := range []processmanagers.Any{renewal.Process(), invoicing.Process(), invoicing.DocumentProcess()} {
		f.processes = append(f.processes, &process{p.Erase(), map[string]*instance{}})
	}
	return f
}

// does executes a command of a person, which must not be refused, and lets everything follow.
func (f *followed) does(c commands.Command) {
	f.t.Helper()
	if err := f.execute(c); err != nil {
		f.t.Fatalf("%T: %v", c, err)
	}
	f.settle()
}

// execute decides a command, with what the program adds to it on its way.
func (f *followed) execute(c commands.Command) error {
	switch c := c.(type) {
	case commands.DraftPeriodInvoice:
		draft, err := DraftUnder(f.settings, c, f.of(c.InvoiceID).ExtraCalled)
		if err != nil {
			return err
		}
		return f.ofAccount(draft, events.DaysCredit{})
	case commands.CreditDays:
		c.Prefix = "ACME-CN"
		return f.ofAccount(c, c.DaysCredit)
	case commands.VoidInvoice:
		c.NotePrefix = "ACME-CN"
		return f.ofAccount(c, events.DaysCredit{})
	case commands.SellDays:
		c.Prefix, c.Of = "ACME-CN", f.of(c.InvoiceID).WholeDays(c.InvoiceID, f.at, nil)
		return f.ofAccount(c, events.DaysCredit{})
	case commands.TellCredit:
		c.Tax = &f.settings.Tax
		return f.ofAccount(c, events.DaysCredit{})
	case commands.CreditReceipt:
		c.Tax = &f.settings.Tax
		return f.ofAccount(c, events.DaysCredit{})
	case commands.AccountCommand:
		return f.ofAccount(c, events.DaysCredit{})
	case commands.SubscriptionCommand:
		line := f.target(c)
		if f.before != nil {
			f.before(line)
		}
		made, err := subscribers.Subscriptions().Decide(*line, c, f.at)
		for _, e := range made {
			*line = subscribers.Subscriptions().Evolve(*line, e)
			f.told = append(f.told, e)
			if f.hears != nil {
				f.hears(e)
			}
		}
		return err
	}
	f.t.Fatalf("%T is of neither the subscription nor the account", c)
	return nil
}

// target is the subscription of a command: a new one when it is none of those that are there.
func (f *followed) target(c commands.SubscriptionCommand) *subscribers.Subscription {
	for _, line := range f.lines {
		if line.ID.IsZero() || c.Target() == commands.At(commands.SubscriptionCategory, line.ID) {
			return line
		}
	}
	line := new(subscribers.Subscription)
	f.lines = append(f.lines, line)
	return line
}

// of is the subscription of an invoice; the first one for that of no period.
func (f *followed) of(invoice id.Invoice) *subscribers.Subscription {
	for _, line := range f.lines {
		if _, found := line.Period(invoice); found {
			return line
		}
	}
	return f.line
}

// ofAccount decides a command of the account. Drafted documents are kept, and get their numbers at once.
func (f *followed) ofAccount(c commands.AccountCommand, credits events.DaysCredit) error {
	made, err := billing.Accounts().Decide(f.account, c, f.at)
	for _, e := range made {
		f.account = billing.Accounts().Evolve(f.account, e)
		f.told = append(f.told, e)
		switch e := e.(type) {
		case events.InvoiceDrafted:
			f.invoices = append(f.invoices, e)
			f.number(commands.InvoiceDocument, id.As[id.Any](e.InvoiceID), len(f.invoices))
		case events.CreditNoteDrafted:
			f.notes = append(f.notes, note{e, credits})
			f.number(commands.CreditNoteDocument, id.As[id.Any](e.CreditNoteID), len(f.notes))
		default: // no document
		}
	}
	return err
}

// number grants a number, as the series does.
func (f *followed) number(document string, of id.Any, n int) {
	f.told = append(f.told, events.NumberGranted{
		Document: document, DocumentID: of, SubscriberID: f.line.SubscriberID, Seq: int64(n),
		Number: fmt.Sprintf("ACME-%04d", n), At: f.at,
	})
}

// settle lets the processes hear what was told, and what follows from that, until nothing is left.
func (f *followed) settle() {
	f.t.Helper()
	for len(f.told) > 0 {
		if f.checked > 0 && f.heard-f.checked > mostEvents {
			f.t.Errorf("more than %d events follow: %s", mostEvents, f.told[0].EventType())
			f.told = nil
			return
		}
		e := f.told[0]
		f.told = f.told[1:]
		f.hear(e)
	}
}

// hear tells the processes of one event.
func (f *followed) hear(e events.Event) {
	f.t.Helper()
	f.heard++
	in := events.Envelope{
		ID: id.Derive[id.Event]("worked", fmt.Sprint(f.heard)), Type: e.EventType(),
		Position: uint64(f.heard), Event: e, //nolint:gosec // a count
	}
	for _, p := range f.processes {
		if key := p.Key(in); key != "" {
			f.take(p, key, processmanagers.Input{Event: &in})
		}
	}
}

// take gives an instance an input, and executes its commands. It hears of those that are refused.
func (f *followed) take(p *process, key string, in processmanagers.Input) {
	f.t.Helper()
	i := p.each[key]
	if i == nil {
		i = &instance{timers: map[string]time.Time{}}
		p.each[key] = i
	}
	next, err := p.Step(&processmanagers.Stored{JSON: i.state}, in, f.at)
	if err != nil {
		f.t.Fatalf("process %s: %v", p.Name, err)
	}
	begins := in.Event != nil && !p.Follows(in.Event.Type)
	if i.state == nil && !begins || next.Ended {
		i.state, i.timers = nil, map[string]time.Time{}
	} else {
		i.state = next.State
		for _, t := range next.Output.Timers {
			if i.timers[t.Name] = t.At; t.At.IsZero() {
				delete(i.timers, t.Name)
			}
		}
	}
	for _, c := range next.Output.Commands {
		if err := f.execute(c); err != nil {
			f.take(p, key, processmanagers.Input{Refusal: &processmanagers.Refusal{
				Command: c.CommandName(), Code: failure.CodeOf(err), Target: c.Target(), Asked: c,
			}})
		}
	}
}

// until lets time pass: timers ring, and each day begins with its billing run.
func (f *followed) until(at time.Time) {
	f.t.Helper()
	for {
		day := calendar.On(f.at, nairobi).AddDays(1)
		next, happens := day.Start(nairobi), func() {
			for _, line := range f.lines {
				f.does(commands.MakePeriodDue{SubscriptionID: line.ID, On: day})
			}
		}
		for _, p := range f.processes {
			for _, key := range slices.Sorted(maps.Keys(p.each)) {
				for _, name := range slices.Sorted(maps.Keys(p.each[key].timers)) {
					if due := p.each[key].timers[name]; !due.After(next) {
						next, happens = due, func() { f.ring(p, key, name) }
					}
				}
			}
		}
		if next.After(at) {
			f.at = at
			return
		}
		if next.After(f.at) {
			f.at = next
		}
		happens()
	}
}

// ring tells an instance that its timer is due.
func (f *followed) ring(p *process, key, name string) {
	f.t.Helper()
	due := p.each[key].timers[name]
	delete(p.each[key].timers, name)
	f.take(p, key, processmanagers.Input{Timeout: &processmanagers.Timeout{Name: name, Due: due}})
	f.settle()
}

// lastInvoice is the newest one.
func (f *followed) lastInvoice() events.InvoiceDrafted { return f.invoices[len(f.invoices)-1] }

// lastNote is the newest credit note.
func (f *followed) lastNote() note {
	f.t.Helper()
	if len(f.notes) == 0 {
		f.t.Fatal("there is no credit note")
	}
	return f.notes[len(f.notes)-1]
}

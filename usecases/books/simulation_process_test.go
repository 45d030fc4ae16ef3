package bookscases_test

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// worker follows up on events in a simulation.
type worker interface {
	hear(events.Envelope)
	lanes() []lane        // those that have something to do, in an order that does not depend on chance
	first() (alarm, bool) // the timer that comes due first; false when none is armed
}

// lane is a queue of work that is done in order, while lanes run in any order.
type lane struct {
	name string
	step func() // does the first thing in the queue
}

// alarm is an armed timer.
type alarm struct {
	name string
	at   time.Time
	fire func()
}

// instances are those of one process. As in the program, the inputs of an instance are one lane and its commands
// another, and states lie stored as JSON in between.
type instances struct {
	s    *simulation
	def  processmanagers.Erased
	each map[string]*instance
	off  bool // as while the program with the process is off: everything waits
}

// instance is one instance of a process, also after it has ended.
type instance struct {
	key      string
	state    []byte // nil = not begun, or ended
	inputs   []processmanagers.Input
	commands []commands.Command
	timers   map[string]time.Time
}

// newInstances lets a process work in a simulation.
func newInstances(s *simulation, p processmanagers.Any) *instances {
	return &instances{s: s, def: p.Erase(), each: map[string]*instance{}}
}

// hear queues the event for its instance.
func (p *instances) hear(e events.Envelope) {
	key := p.def.Key(e)
	if key == "" {
		return
	}
	if p.each[key] == nil {
		p.each[key] = &instance{key: key, timers: map[string]time.Time{}}
	}
	p.each[key].inputs = append(p.each[key].inputs, processmanagers.Input{Event: &e})
}

// lanes gives those of all instances.
func (p *instances) lanes() []lane {
	if p.off {
		return nil
	}
	var list []lane
	for key, i := range p.each {
		if len(i.inputs) > 0 {
			list = append(list, lane{key + " inputs", func() {
				next := i.inputs[0]
				i.inputs = i.inputs[1:]
				p.take(i, next)
			}})
		}
		if len(i.commands) > 0 {
			list = append(list, lane{key + " commands", func() { p.send(i) }})
		}
	}
	slices.SortFunc(list, func(a, b lane) int { return cmp.Compare(a.name, b.name) })
	return list
}

// send executes the first command of an instance, which hears of a refusal.
func (p *instances) send(i *instance) {
	c := i.commands[0]
	i.commands = i.commands[1:]
	if err := p.s.execute(c); err != nil {
		p.take(i, processmanagers.Input{Refusal: &processmanagers.Refusal{
			Command: c.CommandName(), Code: failure.CodeOf(err), Target: c.Target(), Asked: c,
		}})
	}
}

// take gives an instance one input and keeps what comes of it.
func (p *instances) take(i *instance, in processmanagers.Input) {
	next, err := p.def.Step(&processmanagers.Stored{JSON: i.state}, in, p.s.now)
	if err != nil {
		p.s.fail("process %s: %v", p.def.Name, err)
	}
	i.commands = append(i.commands, next.Output.Commands...)
	begins := in.Event != nil && !p.def.Follows(in.Event.Type)
	if next.Ended || i.state == nil && !begins {
		i.state = nil
		clear(i.timers)
		return
	}
	i.state = next.State
	for _, t := range next.Output.Timers {
		if i.timers[t.Name] = t.At; t.At.IsZero() {
			delete(i.timers, t.Name)
		}
	}
}

// first compares the timers of all instances; of several at one instant it is the one whose names come first.
func (p *instances) first() (first alarm, found bool) {
	if p.off {
		return alarm{}, false
	}
	for _, key := range slices.Sorted(maps.Keys(p.each)) {
		i := p.each[key]
		for _, name := range slices.Sorted(maps.Keys(i.timers)) {
			if at := i.timers[name]; !found || at.Before(first.at) {
				first, found = alarm{name, at, func() {
					delete(i.timers, name)
					p.take(i, processmanagers.Input{Timeout: &processmanagers.Timeout{Name: name, Due: at}})
				}}, true
			}
		}
	}
	return first, found
}

// busy reports whether an instance has inputs or commands that wait.
func (p *instances) busy(key string) bool {
	i := p.each[key]
	return i != nil && len(i.inputs)+len(i.commands) > 0
}

// numberer grants a number to each drafted document, in the order of the drafts.
type numberer struct {
	s     *simulation
	queue []commands.GrantNumbers
}

// hear queues a drafted document.
func (n *numberer) hear(e events.Envelope) {
	switch v := e.Event.(type) {
	case events.InvoiceDrafted:
		n.wait(commands.InvoiceDocument, v.Prefix, id.As[id.Any](v.InvoiceID), v.SubscriberID)
	case events.CreditNoteDrafted:
		n.wait(commands.CreditNoteDocument, v.Prefix, id.As[id.Any](v.CreditNoteID), v.SubscriberID)
	default: // gets no number
	}
}

// wait queues a document.
func (n *numberer) wait(document, prefix string, of id.Any, who id.Subscriber) {
	n.queue = append(n.queue,
		n.s.next(document, prefix, commands.NumberedDocument{DocumentID: of, SubscriberID: who}))
}

// lanes has one lane: numbers are granted in order.
func (n *numberer) lanes() []lane {
	if len(n.queue) == 0 {
		return nil
	}
	return []lane{{"numbers", func() {
		next := n.queue[0]
		n.queue = n.queue[1:]
		if err := n.s.execute(next); err != nil {
			n.s.fail("no number: %v", err)
		}
	}}}
}

// first has no timer.
func (*numberer) first() (alarm, bool) { return alarm{}, false }

// runs asks every subscription for its period at the beginning of each day, as billing runs do.
type runs struct {
	s    *simulation
	last calendar.Date
}

// hear remembers nothing: each subscription decides for itself.
func (*runs) hear(events.Envelope) {}

// lanes has no work but that of the days.
func (*runs) lanes() []lane { return nil }

// nairobi is the zone of the organization, whose days begin there.
var nairobi = time.FixedZone("EAT", 3*60*60)

// first is the beginning of the next day.
func (r *runs) first() (alarm, bool) {
	if r.last.IsZero() {
		r.last = calendar.On(r.s.now, nairobi)
	}
	next := r.last.AddDays(1)
	return alarm{"run", next.Start(nairobi), func() {
		r.last = next
		for _, of := range r.s.subscriptions {
			if err := r.s.execute(commands.MakePeriodDue{SubscriptionID: of, On: next}); err != nil {
				r.s.fail("no period: %v", err)
			}
		}
	}}, true
}

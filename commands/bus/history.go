package bus

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Kind describes a registered category for readers that take all of them.
type Kind struct {
	Category string
	State    reflect.Type
	// Holds reports whether an event is one of the aggregate.
	Holds func(events.Event) bool
	// Missing is the failure for an id that does not exist.
	Missing func() error
}

// replayer is a registered aggregate whose past can be folded again; claims are none.
type replayer interface {
	kind() Kind
	past(ctx context.Context, target id.Any) (*Past, error)
}

// Kinds lists the registered categories that have a state, by name. Claims are bookkeeping of the bus and not among
// them.
func (b *Bus) Kinds() []Kind {
	var out []Kind
	for _, name := range slices.Sorted(maps.Keys(b.categories)) {
		if r, folds := b.categories[name].(replayer); folds {
			out = append(out, r.kind())
		}
	}
	return out
}

// Step is one event of an aggregate with the states around it, which are values of the definition's state. States share
// maps and slices with each other and must not be changed.
type Step struct {
	Event events.Envelope
	// Number counts the events of the aggregate from 0, through all periods of its stream.
	Number        uint64
	Before, After any
}

// Past leads through all that was recorded about one aggregate until it was opened. It holds no events but those that
// close periods.
type Past struct {
	// Owner is the organization to which the present state belongs; zero = the platform.
	Owner   id.Organization
	periods []pastPeriod
	owner   func(state any) id.Organization
	begin   func(opened *events.Envelope) (state any, err error)
	next    func(state any, e events.Envelope) (any, error)
	page    func(ctx context.Context, stream string, from uint64) ([]events.Envelope, bool, error)
}

// pastPeriod is one period of a stream.
type pastPeriod struct {
	stream string
	first  uint64           // number of its first event
	events uint64           // how many it has
	opened *events.Envelope // the event that closed the period before; nil in the first
	closed *events.Envelope // nil in the last
}

// OpenPast finds the periods of an aggregate, for any owner: the caller compares Past.Owner with the organization that
// asks. It is nil for an aggregate without events, and for a category that is not registered.
func (b *Bus) OpenPast(ctx context.Context, category string, target id.Any) (*Past, error) {
	r, folds := b.categories[category].(replayer)
	if !folds || target.IsZero() {
		return nil, nil
	}
	past, err := r.past(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("open the past of %s-%s: %w", category, target, err)
	}
	return past, nil
}

// Len is the number of events.
func (p *Past) Len() uint64 {
	last := p.periods[len(p.periods)-1]
	return last.first + last.events
}

// Steps gives the events from a number on to take, until it returns false. A period before that number is not read,
// because the event that closed it has the whole state.
func (p *Past) Steps(ctx context.Context, from uint64, take func(Step) bool) error {
	end := p.Len()
	at := 0
	for at+1 < len(p.periods) && p.periods[at+1].first <= from {
		at++
	}
	for going := true; going && at < len(p.periods); at++ {
		err := p.walk(ctx, p.periods[at], func(s Step) bool {
			going = s.Number < end && (s.Number < from || take(s))
			return going
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// OwnerOf is the organization to which a state of the aggregate belonged; zero = the platform, or none.
func (p *Past) OwnerOf(state any) id.Organization { return p.owner(state) }

// Until gives the last event that was recorded at or before an instant, with the state after it; nil when there is
// none. Whoever wants to know what was recorded at the microsecond of an answer gives the end of that microsecond.
func (p *Past) Until(ctx context.Context, at time.Time) (*Step, error) {
	in := 0
	for in+1 < len(p.periods) && !p.periods[in].closed.Meta.At.After(at) {
		in++
	}
	var last *Step
	keep := func(s Step) bool {
		if s.Event.Meta.At.After(at) {
			return false
		}
		last = &s
		return true
	}
	if err := p.walk(ctx, p.periods[in], keep); err != nil || last != nil || in == 0 {
		return last, err
	}
	return last, p.walk(ctx, p.periods[in-1], keep) // it ends with the event that closed it
}

// walk folds one period from its beginning.
func (p *Past) walk(ctx context.Context, of pastPeriod, take func(Step) bool) error {
	state, err := p.begin(of.opened)
	for next := uint64(0); err == nil && next < of.events; {
		page, more, err := p.page(ctx, of.stream, next)
		if err != nil {
			return err
		}
		for _, e := range page {
			step := Step{Event: e, Number: of.first + e.Revision, Before: state}
			if step.After, err = p.next(state, e); err != nil {
				return err
			}
			if state = step.After; !take(step) {
				return nil
			}
		}
		if !more {
			return nil
		}
		next = page[len(page)-1].Revision + 1
	}
	return err
}

// kind implements replayer.
func (h *handler[S, C, E]) kind() Kind {
	return Kind{
		Category: h.def.Category, State: reflect.TypeFor[S](), Missing: h.def.Missing,
		Holds: func(e events.Event) bool { _, is := e.(E); return is },
	}
}

// past implements replayer.
func (h *handler[S, C, E]) past(ctx context.Context, target id.Any) (*Past, error) {
	store := h.bus.cfg.Store
	p := &Past{begin: h.beginPast, next: h.nextPast, owner: func(state any) id.Organization {
		is, _ := state.(S)
		return h.owner(is)
	}, page: func(
		ctx context.Context, stream string, from uint64,
	) ([]events.Envelope, bool, error) {
		return store.ReadPage(ctx, stream, from, eventstore.PageSize)
	}}
	var opened *events.Envelope
	for number := uint64(0); ; {
		stream := periodStream(h.def.Category, target, len(p.periods))
		last, err := store.ReadLast(ctx, stream)
		if err != nil {
			return nil, err
		}
		if last == nil {
			break
		}
		period := pastPeriod{stream: stream, first: number, events: last.Revision + 1, opened: opened}
		number += period.events
		if closes := h.closing != "" && last.Type == h.closing; closes {
			period.closed, opened = last, last
		}
		p.periods = append(p.periods, period)
		if period.closed == nil {
			break
		}
	}
	if len(p.periods) == 0 {
		return nil, nil
	}
	at, err := h.load(ctx, target)
	p.Owner = h.owner(at.state)
	return p, err
}

// beginPast is the state at the beginning of a period.
func (h *handler[S, C, E]) beginPast(opened *events.Envelope) (any, error) {
	var none S
	if opened == nil {
		return none, nil
	}
	state, _, err := h.step(none, *opened)
	return state, err
}

// nextPast applies one event to a state that beginPast or nextPast gave.
func (h *handler[S, C, E]) nextPast(from any, e events.Envelope) (any, error) {
	state, _ := from.(S)
	state, _, err := h.step(state, e)
	return state, err
}

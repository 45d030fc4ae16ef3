package bus_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// counter is the aggregate of these tests. It uses the events of the account: it is opened, counts, and may claim names
// that are unique on the platform.
type counter struct {
	Closed time.Time `json:"-"` // when the period before was closed; zero = never
	Owner  id.Organization
	Sum    int64
	Names  []string
}

// counterCommand is the sealed interface of the counter's commands.
type counterCommand interface {
	commands.Command
	counterCommand()
}

// open creates a counter with names.
type open struct {
	ID    id.Subscriber
	Org   id.Organization
	Names []string
}

// add increases the sum, with one event for each step.
type add struct {
	ID    id.Subscriber
	Step  int64
	Times int
	By    time.Time `json:"-"` // too late from then on; zero = never
}

// rename replaces all names.
type rename struct {
	ID    id.Subscriber
	Names []string
}

// nickname has personal text, which a stored command must not have.
type nickname struct {
	ID   id.Subscriber
	Name personal.Text
}

func (c open) CommandName() string         { return "test.Open" }
func (c add) CommandName() string          { return "test.Add" }
func (c rename) CommandName() string       { return "test.Rename" }
func (c nickname) CommandName() string     { return "test.Nickname" }
func (c open) Target() commands.Target     { return commands.At("account", c.ID) }
func (c add) Target() commands.Target      { return commands.At("account", c.ID) }
func (c rename) Target() commands.Target   { return commands.At("account", c.ID) }
func (c nickname) Target() commands.Target { return commands.At("account", c.ID) }
func (c open) Validate() error             { return nil }
func (c rename) Validate() error           { return nil }
func (c nickname) Validate() error         { return nil }
func (open) counterCommand()               {}
func (add) counterCommand()                {}
func (rename) counterCommand()             {}
func (nickname) counterCommand()           {}

// Validate refuses a negative step.
func (c add) Validate() error {
	var f failure.Faults
	f.Check(c.Step >= 0, "step", "must not be negative")
	return f.Err()
}

// counters is the definition that the bus executes.
func counters() aggregates.Definition[counter, counterCommand, events.AccountEvent] {
	return aggregates.Definition[counter, counterCommand, events.AccountEvent]{
		Category: "account", Commands: []counterCommand{open{}, add{}, rename{}, nickname{}},
		Missing: func() error {
			return failure.NewNotFound("counter_not_found",
				"There is no such counter.")
		},
		Until: func(c counterCommand, _ []events.AccountEvent) time.Time {
			if c, ok := c.(add); ok {
				return c.By
			}
			return time.Time{}
		},
		Evolve: evolve, Decide: decide, Gone: func(s counter) bool { return slices.Contains(s.Names, "gone") },
		Owner: func(s counter) id.Organization { return s.Owner },
		Claims: func(s counter) []commands.Claim {
			var list []commands.Claim
			for _, n := range s.Names {
				list = append(list, commands.Claim{Kind: "name", Value: n, Code: "name_taken", Message: "Taken."})
			}
			return list
		},
		Close: func(s counter) events.AccountEvent {
			opening, err := json.Marshal(s)
			if err != nil {
				panic(err)
			}
			return events.AccountPeriodClosed{Opening: opening}
		},
		First:    open{},
		ClosedAt: func(s counter, at time.Time) counter { s.Closed = at; return s },
	}
}

// evolve applies one event.
func evolve(s counter, e events.AccountEvent) counter {
	switch e := e.(type) {
	case events.AccountOpened:
		s.Owner = e.OrgID
	case events.CreditLeft:
		s.Sum += e.Credit.Minor
	case events.InvoiceIssued:
		s.Names = nil
		if err := json.Unmarshal([]byte(e.Number), &s.Names); err != nil {
			panic(err)
		}
	case events.AccountPeriodClosed:
		if err := json.Unmarshal(e.Opening, &s); err != nil {
			panic(err)
		}
	}
	return s
}

// decide has the rules of the counter.
func decide(s counter, c counterCommand, now time.Time) ([]events.AccountEvent, error) {
	if c, ok := c.(open); ok {
		if !s.Owner.IsZero() {
			return nil, failure.NewConflict("counter_exists", "")
		}
		return []events.AccountEvent{events.AccountOpened{SubscriberID: c.ID, OrgID: c.Org}, named(c.ID, c.Names)}, nil
	}
	if s.Owner.IsZero() {
		return nil, failure.NewNotFound("counter_not_found", "")
	}
	var list []events.AccountEvent
	switch c := c.(type) {
	case add:
		if !c.By.IsZero() && !now.Before(c.By) {
			return nil, failure.NewConflict("too_late", "")
		}
		for range max(c.Times, 1) {
			if c.Step > 0 {
				list = append(list, events.CreditLeft{SubscriberID: c.ID, Credit: money.Of(c.Step, money.KES), At: now})
			}
		}
	case rename:
		list = append(list, named(c.ID, c.Names))
	}
	return list, nil
}

// named is the event that replaces the names; they travel in a text field of the account's event.
func named(subscriber id.Subscriber, names []string) events.AccountEvent {
	text, err := json.Marshal(names)
	if err != nil {
		panic(err)
	}
	return events.InvoiceIssued{SubscriberID: subscriber, Number: string(text)}
}

// start is the first time of the manual clock.
var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// world is a store with two replicas of the bus.
type world struct {
	*storetest.Kit
	t     *testing.T
	clock *clock.Manual
	one   *bus.Bus
	two   *bus.Bus
	org   id.Organization
}

// newWorld starts a store with two replicas; cfg sets their limits.
func newWorld(t *testing.T, cfg bus.Config) *world {
	t.Helper()
	w := &world{Kit: storetest.New(t), t: t, clock: clock.NewManual(start), org: id.New[id.Organization]()}
	w.one, w.two = w.replica(cfg), w.replica(cfg)
	return w
}

// replica is a bus with its own memory and its own connection.
func (w *world) replica(cfg bus.Config) *bus.Bus { return w.busOn(w.Open(), cfg) }

// busOn is a bus with its own memory on the given connection.
func (w *world) busOn(store *eventstore.Store, cfg bus.Config) *bus.Bus {
	cfg.Store, cfg.Claims, cfg.Clock, cfg.Logger = store, storetest.ClaimKey, w.clock, storetest.Quiet()
	b := bus.New(cfg)
	bus.Register(b, counters())
	return b
}

// meta is for a new command of the world's organization.
func (w *world) meta() commands.Meta {
	return commands.Meta{
		CommandID: id.New[id.Command](), OrgID: w.org,
		Actor: events.Actor{Kind: events.ActorUser, ID: id.New[id.User]().String(), Role: string(events.RoleAdmin)},
	}
}

// opened creates a counter and returns its id.
func (w *world) opened(names ...string) id.Subscriber {
	w.t.Helper()
	c := open{ID: id.New[id.Subscriber](), Org: w.org, Names: names}
	w.must(w.one, c, w.meta())
	return c.ID
}

// must executes a command that must be accepted.
func (w *world) must(b *bus.Bus, c commands.Command, m commands.Meta) bus.Result {
	w.t.Helper()
	r, err := b.Execute(w.t.Context(), c, m)
	if err != nil {
		w.t.Fatalf("%s: %v", c.CommandName(), err)
	}
	return r
}

// untilAvailable is like must, and repeats the same command while the store is unavailable.
func (w *world) untilAvailable(b *bus.Bus, c commands.Command, m commands.Meta) bus.Result {
	w.t.Helper()
	for began := time.Now(); ; {
		r, err := b.Execute(w.t.Context(), c, m)
		if err == nil {
			return r
		}
		if failure.KindOf(err) != failure.Unavailable || time.Since(began) > time.Minute {
			w.t.Fatalf("%s: %v", c.CommandName(), err)
		}
	}
}

// fails executes a command that must be refused with this code.
func (w *world) fails(b *bus.Bus, c commands.Command, m commands.Meta, code string) {
	w.t.Helper()
	if r, err := b.Execute(w.t.Context(), c, m); failure.CodeOf(err) != code {
		w.t.Fatalf("%s: want %s, have %+v, %v", c.CommandName(), code, r, err)
	}
}

// state is the state that a bus with an empty cache folds from the log.
func (w *world) state(target id.Subscriber) counter {
	w.t.Helper()
	s, _, err := bus.LoadUnchecked[counter](w.t.Context(), w.busOn(w.Store, bus.Config{}), target)
	if err != nil {
		w.t.Fatalf("load: %v", err)
	}
	s.Closed = time.Time{} // follows from the length of the period, which most tests leave open
	return s
}

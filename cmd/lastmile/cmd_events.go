package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/books"
	"github.com/lastmile-isp/lastmile/usecases/history"
)

// eventsCommands has the sub-commands of `lastmile events`, by which support reads the log. Each look is in the audit
// log, and nothing else is changed.
type eventsCommands struct {
	List  eventsList  `cmd:"" help:"List streams, the oldest first."`
	Show  eventsShow  `cmd:"" help:"Show the events of one stream, who led to each, and what it changed."`
	State eventsState `cmd:"" help:"Show what a stream adds up to, now or at an instant."`
	Diff  eventsDiff  `cmd:"" help:"Show what differs between two instants."`
}

// streamArgument names the aggregate that a command is about.
type streamArgument struct {
	Stream string `arg:"" help:"Name of the stream, such as account-018f2b6e-7d31-7c4a-9e7e-3f1c2b7a9d10."`
}

// eventsList is `lastmile events list`.
type eventsList struct {
	Category string `help:"Streams of one kind, such as account; all kinds by default."`
	Org      string `help:"Slug of one organization; all of them and the platform by default."`
	After    uint64 `help:"Go on behind this position, which the end of the list before names."`
	Limit    int    `default:"50" help:"Streams to list, at most 1000."`
	JSON     bool   `help:"Print one JSON object in each line."`
}

// eventsShow is `lastmile events show STREAM`.
type eventsShow struct {
	streamArgument
	After  *uint64 `help:"Events after this number."`
	Newest bool    `help:"The newest first."`
	Limit  int     `default:"50" help:"Events to show, at most 1000."`
	JSON   bool    `help:"Print one JSON object in each line."`
}

// eventsState is `lastmile events state STREAM`.
type eventsState struct {
	streamArgument
	At   *time.Time `help:"An instant in RFC 3339, such as 2026-03-02T09:00:00Z; now by default."`
	JSON bool       `help:"Print JSON."`
}

// eventsDiff is `lastmile events diff STREAM --from T --to T`.
type eventsDiff struct {
	streamArgument
	From time.Time  `required:"" help:"An instant in RFC 3339; before the first event all that is there differs."`
	To   *time.Time `help:"A later instant; now by default."`
	JSON bool       `help:"Print JSON."`
}

// mostShown bounds what one call of `lastmile events` prints: the answer is in memory.
const mostShown = 1000

// past has what `lastmile events` and `lastmile explain` read.
type past struct {
	s     *storage
	bus   *bus.Bus
	clock clock.Clock
	life  *lifecycle
	cases historycases.Histories
	by    historycases.Reader
	print printer
}

// withPast opens the storage of a running program, or starts it, and calls do. command is by which the audit log names
// the operator.
func withPast(ctx context.Context, p program, command string, do func(*past) error) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	l := newLifecycle(quiet(p, cfg))
	defer l.stop()
	now := productClock(cfg)
	s, err := openStorage(ctx, cfg, now, l, storageMode{node: true, attach: true})
	if err != nil {
		return err
	}
	b := openBus(s, now, l.logger)
	return do(&past{
		s: s, bus: b, clock: now, life: l, cases: historycases.Histories{Bus: b}, print: printer{p.out},
		by: historycases.Reader{Operator: true, Asked: usecases.Asked{Meta: commands.Meta{
			CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorOperator, ID: command},
		}}},
	})
}

// open finds the aggregate of a stream and records the look at it.
func (r *past) open(ctx context.Context, stream string, look historycases.Look) (*historycases.History, error) {
	category, text, _ := strings.Cut(stream, "-")
	target, err := id.Parse[id.Any](text)
	if err != nil {
		return nil, fmt.Errorf("%q is not the name of a stream: see lastmile events list", stream)
	}
	h, err := r.cases.Open(ctx, r.by, historycases.Target{Category: category, ID: target})
	if err != nil {
		return nil, err
	}
	return h, r.cases.Record(ctx, r.by, h, look)
}

// instant is the present without one, and never in the future.
func (r *past) instant(at *time.Time) (time.Time, error) {
	now := r.clock.Now()
	switch {
	case at == nil:
		return now, nil
	case at.After(now):
		return now, errors.New("the instant must not be in the future")
	}
	return at.UTC(), nil
}

// bounded checks how much is to be shown.
func bounded(limit int) error {
	if limit < 1 || limit > mostShown {
		return fmt.Errorf("--limit must be from 1 to %d", mostShown)
	}
	return nil
}

// Run prints a line for each stream, and how to go on.
func (c eventsList) Run(ctx context.Context, p program) error {
	if err := bounded(c.Limit); err != nil {
		return err
	}
	return withPast(ctx, p, "events list", func(r *past) error {
		types, err := r.typesOf(c.Category)
		if err != nil {
			return err
		}
		tenants, err := newDoctor(r.s, r.clock).Tenants(ctx, &bookscases.Register{})
		if err != nil {
			return err
		}
		belongs := func(id.Organization) bool { return true }
		if c.Org != "" {
			of := slices.IndexFunc(tenants, func(t bookscases.Tenant) bool { return t.Slug == c.Org })
			if of < 0 {
				return fmt.Errorf("there is no organization %q", c.Org)
			}
			belongs = func(org id.Organization) bool { return org == tenants[of].ID }
		}
		var found []events.Envelope
		more := false
		_, err = followLog(ctx, r.s.store, c.After, types, func(e events.Envelope) bool {
			if begins(e) && belongs(e.Meta.OrgID) {
				more = len(found) == c.Limit
				found = append(found, e)
			}
			return !more
		})
		if err != nil {
			return err
		}
		return r.print.streams(found[:min(len(found), c.Limit)], more, c.JSON, func(org id.Organization) string {
			return slugOf(tenants, org)
		})
	})
}

// typesOf lists the types of the events of a category; nil = of all.
func (r *past) typesOf(category string) ([]string, error) {
	if category == "" {
		return nil, nil
	}
	if _, err := historycases.KindOf(category, true); err != nil {
		return nil, err
	}
	var types []string
	for _, k := range r.bus.Kinds() {
		for _, e := range catalog.Events() {
			if k.Category == category && k.Holds(e) {
				types = append(types, e.EventType())
			}
		}
	}
	return types, nil
}

// begins reports whether an event is the first of an aggregate whose history can be read: later periods of a stream do
// not have the aggregate's id in their names.
func begins(e events.Envelope) bool {
	_, err := historycases.KindOf(e.Category(), true)
	return err == nil && e.Revision == 0 && e.Stream == e.Category()+"-"+e.Meta.AggregateID.String()
}

// Run prints the events.
func (c eventsShow) Run(ctx context.Context, p program) error {
	if err := bounded(c.Limit); err != nil {
		return err
	}
	if c.Newest && c.After != nil {
		return errors.New("--after and --newest do not go together")
	}
	return withPast(ctx, p, "events show", func(r *past) error {
		h, err := r.open(ctx, c.Stream, historycases.Look{Kind: events.LookEvents})
		if err != nil {
			return err
		}
		var list []historycases.Entry
		switch {
		case c.Newest:
			list, err = h.Newest(ctx, h.Len(), c.Limit)
		case c.After != nil:
			list, err = h.Oldest(ctx, *c.After+1, c.Limit)
		default:
			list, err = h.Oldest(ctx, 0, c.Limit)
		}
		if err != nil {
			return err
		}
		return r.print.entries(list, h.Len(), c.JSON)
	})
}

// Run prints the state.
func (c eventsState) Run(ctx context.Context, p program) error {
	return withPast(ctx, p, "events state", func(r *past) error {
		at, err := r.instant(c.At)
		if err != nil {
			return err
		}
		h, err := r.open(ctx, c.Stream, historycases.Look{Kind: events.LookState, Until: at})
		if err != nil {
			return err
		}
		was, err := h.At(ctx, at)
		if err != nil {
			return err
		}
		return r.print.state(was, c.JSON)
	})
}

// Run prints the difference.
func (c eventsDiff) Run(ctx context.Context, p program) error {
	return withPast(ctx, p, "events diff", func(r *past) error {
		from, err := r.instant(&c.From)
		if err != nil {
			return err
		}
		to, err := r.instant(c.To)
		if err != nil {
			return err
		}
		if from.After(to) {
			return errors.New("--from must not be after --to")
		}
		h, err := r.open(ctx, c.Stream, historycases.Look{Kind: events.LookDifference, From: from, Until: to})
		if err != nil {
			return err
		}
		d, err := h.Between(ctx, from, to)
		if err != nil {
			return err
		}
		return r.print.difference(d, c.JSON)
	})
}

package usecases

import (
	"context"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Fuse stops something of an organization when far more of it happens on a day than usual, until a person releases it
// (docs/rules/billing.md#fuses). Each organization has its own: one whose numbers cannot be read stops no other. Safe
// for concurrent use; make it with NewFuse.
type Fuse struct {
	kind  string
	bus   *bus.Bus
	days  DaysOf
	clock clock.Clock
	mu    sync.Mutex
	orgs  map[id.Organization]*fuseOf
}

// DaysOf counts what happened in an organization on each of its days from a date on.
type DaysOf func(
	ctx context.Context, org id.Organization, kind string, from calendar.Date, zone *time.Location,
) (map[calendar.Date]int, error)

// NewFuse makes the fuse of a kind for all organizations.
func NewFuse(kind string, b *bus.Bus, days DaysOf, c clock.Clock) *Fuse {
	return &Fuse{kind: kind, bus: b, days: days, clock: c, orgs: map[id.Organization]*fuseOf{}}
}

// fuseOf keeps the numbers of one organization, so that they are read once a day.
type fuseOf struct {
	mu       sync.Mutex
	today    calendar.Date
	until    time.Time // the end of today; zero = nothing is known
	looked   time.Time // when the log was read
	count    int       // of today
	reserved int       // places of what may happen at this moment
	usual    int
	held     bool
	released bool // today
}

// fuseLooks is how soon the release of a held fuse is seen.
const fuseLooks = 2 * time.Second

// of finds the numbers of an organization.
func (f *Fuse) of(org id.Organization) *fuseOf {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.orgs[org] == nil {
		f.orgs[org] = &fuseOf{}
	}
	return f.orgs[org]
}

// Reserve takes a place for one more to happen in an organization. Places that are reserved count like what has
// happened, so that many who ask side by side together get no more than the limit. Without a place the caller waits:
// held reports that the fuse holds until a person releases it, which Reserve records when as many as the limit have
// happened; otherwise the places that are left are reserved at this moment, and some may be given back. Fails:
// organization_not_found, and as the log and the read models do; then the caller waits as well.
func (f *Fuse) Reserve(ctx context.Context, org id.Organization) (place *FusePlace, held bool, err error) {
	o := f.of(org)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := f.look(ctx, org, o); err != nil {
		return nil, true, err
	}
	limit := billing.FuseLimit(o.usual)
	switch {
	case o.held:
		return nil, true, nil
	case o.released || o.count+o.reserved < limit:
		o.reserved++
		return &FusePlace{of: o}, false, nil
	case o.count < limit:
		return nil, false, nil
	}
	_, err = f.bus.Execute(ctx, commands.HoldFuse{
		FuseID: commands.FuseOf(org, f.kind), OrgID: org, Kind: f.kind, Date: o.today, Count: o.count, Usual: o.usual,
	}, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess, ID: "fuse"},
	})
	if err != nil {
		return nil, true, err
	}
	o.held, o.looked = true, f.clock.Now()
	return nil, true, nil
}

// FusePlace is a reserved place below the limit of a fuse. It is used or given back; only the first of these counts. A
// nil place does nothing. Safe for concurrent use.
type FusePlace struct {
	of   *fuseOf
	once sync.Once
}

// Use counts what was reserved as having happened, or as possible: what may have happened uses its place as well.
func (p *FusePlace) Use() { p.end(1) }

// GiveBack returns the place when nothing has happened.
func (p *FusePlace) GiveBack() { p.end(0) }

// end ends the reservation and counts what has happened.
func (p *FusePlace) end(happened int) {
	if p == nil {
		return
	}
	p.once.Do(func() {
		p.of.mu.Lock()
		defer p.of.mu.Unlock()
		p.of.reserved--
		p.of.count += happened
	})
}

// look reads what is not known: everything on a new day, and whether a held one was released.
func (f *Fuse) look(ctx context.Context, org id.Organization, o *fuseOf) error {
	now := f.clock.Now()
	fresh := !now.Before(o.until)
	if !fresh && (!o.held || now.Sub(o.looked) < fuseLooks) {
		return nil
	}
	settings, err := BillingSettings(ctx, f.bus, org)
	if err != nil {
		return err
	}
	zone, err := Zone(settings)
	if err != nil {
		return err
	}
	today := calendar.On(now, zone)
	state, _, err := bus.LoadOwned[billing.Fuse](ctx, f.bus, org, commands.FuseOf(org, f.kind))
	if err != nil && failure.KindOf(err) != failure.NotFound {
		return err
	}
	if fresh {
		counts, err := f.days(ctx, org, f.kind, today.AddDays(-events.UsualDays), zone)
		if err != nil {
			return err
		}
		o.count, o.usual = counts[today], 0
		delete(counts, today)
		for _, n := range counts {
			o.usual = max(o.usual, n)
		}
	}
	o.today, o.until, o.looked = today, today.AddDays(1).Start(zone), now
	o.held, o.released = state.Held, state.Released == today
	return nil
}

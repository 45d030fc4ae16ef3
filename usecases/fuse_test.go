package usecases_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// fuseKit is a fuse with two organizations and a clock.
type fuseKit struct {
	*coretest.Kit
	clock      *clock.Manual
	acme, best id.Organization
}

// newFuseKit starts in the middle of a day in Nairobi.
func newFuseKit(t *testing.T) fuseKit {
	t.Helper()
	now := clock.NewManual(time.Date(2026, time.March, 4, 9, 0, 0, 0, time.UTC))
	k := fuseKit{
		Kit: coretest.New(t, now), clock: now, acme: id.New[id.Organization](), best: id.New[id.Organization](),
	}
	bus.Register(k.Bus, billing.Fuses())
	bus.Register(k.Bus, identity.Organizations())
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(k.acme, "acme"))
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(k.best, "best"))
	return k
}

// cut tries so many times, and gives how many were let through.
func cut(t *testing.T, f *usecases.Fuse, org id.Organization, times int) (through int) {
	t.Helper()
	for range times {
		place, held, err := f.Reserve(t.Context(), org)
		if err != nil || held == (place != nil) {
			t.Fatal(held, err)
		}
		if !held {
			place.Use()
			through++
		}
	}
	return through
}

// usualOf gives the numbers of days that are over, and those of today.
func usualOf(before, today int) usecases.DaysOf {
	return func(
		_ context.Context, _ id.Organization, _ string, from calendar.Date, _ *time.Location,
	) (map[calendar.Date]int, error) {
		return map[calendar.Date]int{from.AddDays(7): before, from.AddDays(9): before / 2, from.AddDays(62): today}, nil
	}
}

func TestFuse_HoldsAtThreeTimesTheUsualUntilAPersonReleasesIt(t *testing.T) {
	t.Parallel()
	k := newFuseKit(t)
	f := usecases.NewFuse(events.FuseCuts, k.Bus, usualOf(40, 100), k.clock)
	if n := cut(t, f, k.acme, 30); n != 20 { // 100 were cut before the program began, 3 × 40 may be
		t.Errorf("%d more are cut", n)
	}
	k.clock.Advance(24 * time.Hour) // the next day releases nothing
	if n := cut(t, f, k.acme, 5); n != 0 {
		t.Errorf("%d are cut on the next day", n)
	}
	again := usecases.NewFuse(events.FuseCuts, k.Bus, usualOf(40, 0), k.clock) // nor does another program
	if n := cut(t, again, k.acme, 5); n != 0 {
		t.Errorf("%d are cut by another program", n)
	}
	release := commands.ReleaseFuse{
		FuseID: commands.FuseOf(k.acme, events.FuseCuts), Date: calendar.Date{Year: 2026, Month: time.March, Day: 5},
		Reason: "the price went up",
	}
	_, err := k.Bus.Execute(t.Context(), release, coretest.Operator(k.best))
	if failure.KindOf(err) != failure.NotFound {
		t.Errorf("a neighbour's release: %v", err)
	}
	k.Run(t, coretest.Operator(k.acme), release)
	k.clock.Advance(3 * time.Second)
	if n := cut(t, f, k.acme, 500); n != 500 {
		t.Errorf("%d are cut after the release", n)
	}
}

func TestFuse_OneOrganizationStopsNoOther(t *testing.T) {
	t.Parallel()
	k := newFuseKit(t)
	broken := errors.New("its numbers cannot be read")
	f := usecases.NewFuse(events.FuseMessages, k.Bus, func(
		ctx context.Context, org id.Organization, kind string, from calendar.Date, zone *time.Location,
	) (map[calendar.Date]int, error) {
		if org == k.acme {
			return nil, broken
		}
		return usualOf(0, 0)(ctx, org, kind, from, zone)
	}, k.clock)
	if _, held, err := f.Reserve(t.Context(), k.acme); !held || !errors.Is(err, broken) {
		t.Errorf("held %t, %v", held, err)
	}
	if n := cut(t, f, k.best, 100); n != 90 {
		t.Errorf("%d messages of the other organization go", n)
	}
}

// TestFuse_LetsNoMoreThroughThanItsLimitHoweverManyAskSideBySide: the count that a fuse records says how many it
// let through, and a place that is given back goes to another one.
func TestFuse_LetsNoMoreThroughThanItsLimitHoweverManyAskSideBySide(t *testing.T) {
	t.Parallel()
	k := newFuseKit(t)
	f := usecases.NewFuse(events.FuseCuts, k.Bus, usualOf(10, 0), k.clock) // 90 may be
	reserve := func(times int) (places []*usecases.FusePlace) {
		for range times {
			place, held, err := f.Reserve(t.Context(), k.acme)
			if err != nil || held {
				t.Fatalf("held %t, %v, before any has happened", held, err)
			}
			if place != nil {
				places = append(places, place)
			}
		}
		return places
	}
	open := reserve(200)
	if len(open) != 90 {
		t.Fatalf("%d of 200 have a place, want 90", len(open))
	}
	for _, place := range open[:30] {
		place.GiveBack()
		place.Use() // comes too late
	}
	if again := reserve(200); len(again) != 30 {
		t.Errorf("%d have a place of the 30 that were given back", len(again))
	} else {
		open = append(open[30:], again...)
	}
	var all sync.WaitGroup
	for _, place := range open {
		all.Go(place.Use)
	}
	all.Wait()
	if n := cut(t, f, k.acme, 3); n != 0 {
		t.Errorf("%d more are cut", n)
	}
	fuse := commands.FuseOf(k.acme, events.FuseCuts)
	list, err := k.Store.Read(t.Context(), commands.FuseCategory+"-"+fuse.String(), 0)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d events, %v", len(list), err)
	}
	if held, ok := list[0].Event.(events.FuseHeld); !ok || held.Count != 90 {
		t.Errorf("recorded %+v", list[0].Event)
	}
}

package processrunner_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

// hasty is courier, whose first event "wait" mostly comes just before the end.
func hasty(b *bench) processmanagers.Process[trip] {
	p := courier("hasty", &b.forgive)
	p.On[0] = processmanagers.Brief(func(e parcel) string { return e.No },
		func(e parcel) bool { return e.What == "wait" })
	return p
}

// startHasty starts an engine with the process hasty.
func (b *bench) startHasty(t *testing.T) *processrunner.Runner {
	t.Helper()
	r := b.open(t)
	r.Register(hasty(b))
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// What begins and ends at once leaves no row and no timer; what is between does not change that for others.
func TestBrief_AnInstanceThatEndsAtOnceLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.startHasty(t)
	taken(t, r, "hasty", b.happen("other", "on"))
	for n := range 50 {
		b.happen(fmt.Sprint("p", n), "wait")
	}
	last := b.happen("other", "deliver")
	for n := range 50 {
		last = b.happen(fmt.Sprint("p", n), "over")
	}
	taken(t, r, "hasty", last)
	if n, timers := b.rows(t, "instances"), b.rows(t, "timers"); n != 1 || timers != 0 {
		t.Errorf("%d instances, %d timers", n, timers)
	}
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
}

// A first event that is alone for a moment, and one whose next event does not end the instance, are taken as any other.
func TestBrief_WhatDoesNotEndAtOnceIsTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.startHasty(t)
	b.happen("alone", "wait")
	b.happen("goes on", "wait")
	b.happen("acts", "wait")
	b.happen("acts", "deliver", "over")
	taken(t, r, "hasty", b.happen("goes on", "on", "again"))
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
	for key, want := range map[string][]string{"alone": {"wait"}, "goes on": {"wait", "on", "again"}} {
		if got := b.seen(t, "hasty", key); !slices.Equal(got, want) {
			t.Errorf("%s: %v", key, got)
		}
	}
	if n := b.rows(t, "timers"); n != 2 {
		t.Errorf("%d timers", n)
	}
	taken(t, r, "hasty", b.happen("alone", "over"))
	b.clock.Advance(2 * time.Hour)
	poll(t, "the timer that is left has fired", func() bool { return b.rows(t, "timers") == 0 })
}

// What waited when the program ended is read again, and waits no more: an earlier program may have taken it already.
func TestBrief_WhatWaitedInAnEarlierProgramIsTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.startHasty(t)
	taken(t, first, "hasty", b.happen("other", "on"))
	b.happen("early", "wait")
	first.Stop()
	second := b.startHasty(t)
	poll(t, "it is taken", func() bool { return b.seenMaybe(t, "hasty", "early") != nil })
	taken(t, second, "hasty", b.happen("early", "over"))
	poll(t, "its row is gone", func() bool {
		return b.rows(t, "timers") == 0 && b.seenMaybe(t, "hasty", "early") == nil
	})
}

// What the program knows to be settled leaves nothing; what comes after it is taken as if it had not been there.
func TestBrief_ASettledEventLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var known sync.Map
	b.settled = func(e events.Envelope) bool {
		_, ok := known.Load(e.Event.(parcel).No) //nolint:forcetypeassert // nothing else happens here
		return ok
	}
	r := b.startHasty(t)
	taken(t, r, "hasty", b.happen("other", "on"))
	for n := range 50 {
		known.Store(fmt.Sprint("p", n), true)
		b.happen(fmt.Sprint("p", n), "wait")
	}
	b.happen("open", "wait")
	known.Store("late", true)
	taken(t, r, "hasty", b.happen("late", "wait"))
	if got := b.seen(t, "hasty", "open"); !slices.Equal(got, []string{"wait"}) {
		t.Errorf("what is not settled has %v", got)
	}
	if n, timers := b.rows(t, "instances"), b.rows(t, "timers"); n != 2 || timers != 1 {
		t.Errorf("%d instances, %d timers", n, timers)
	}
	taken(t, r, "hasty", b.happen("p7", "on", "again"))
	if got := b.seen(t, "hasty", "p7"); !slices.Equal(got, []string{"on", "again"}) {
		t.Errorf("after a settled event: %v", got)
	}
}

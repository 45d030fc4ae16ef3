package telemetry_test

import (
	"context"
	"io"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// namesakes are whole sessions of one name, of 1,000 octets each: a router that lost its power names its sessions from
// the beginning again.
func (k *kit) namesakes(n int) (list []telemetry.Report) {
	for i := range n {
		one := k.at(telemetry.Stop, time.Hour, 1000, 1)
		one.At = noon.Add(time.Duration(2*i+1) * time.Hour)
		list = append(list, one)
	}
	return list
}

// TestSpool_WhatWasTakenIsNotTakenAgainAfterAKill: the program is killed while it takes what came when the database was
// away. A router has one name for many sessions.
func TestSpool_WhatWasTakenIsNotTakenAgainAfterAKill(t *testing.T) {
	t.Parallel()
	k := open(t)
	dir := t.TempDir()
	gone := k.recorder(t, k.away(t), dir, nil)
	list := k.namesakes(10)
	for _, one := range k.stops(id.New[id.Device](), 0, 600) {
		one.Org = id.As[id.Organization](one.Device)
		list = append(list, one)
	}
	if n := record(gone, list...); n != len(list) {
		t.Fatalf("%d kept", n)
	}
	gone.Stop()
	var heard []telemetry.Report
	for range 2 {
		d := &telemetry.Death{At: 4, Dead: make(chan struct{})} // when the first group is taken
		r := telemetry.NewRecorder(telemetry.Config{
			Store: k.Store, Directory: k.directory(), SpoolDir: dir,
			Heard: func(r telemetry.Report) { heard = append(heard, r) },
		})
		r.SmallGroups(100)
		r.Await(d)
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-d.Dead
		r.Stop()
	}
	if most := 2 * len(list); len(heard) >= most || len(heard) < len(list) {
		t.Errorf("%d reports are there after two starts", len(heard))
	}
	settle(t, k.recorder(t, k.Store, dir, nil))
	if octets, sessions := k.taken(t); octets != 10_000 || sessions != 10 {
		t.Errorf("%d octets in %d sessions", octets, sessions)
	}
}

// alone starts a recorder to which the kit's organization has told a report that cannot be stored. It rests until
// something comes, whatever the time, and calls step between its steps.
func (k *kit) alone(t *testing.T, log io.Writer, now *clock.Manual, step func(string)) *telemetry.Recorder {
	t.Helper()
	r := telemetry.NewRecorder(telemetry.Config{
		Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir(), Clock: now,
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	r.Watch(step, nil)
	rests := make(chan struct{}, 100)
	r.WatchRests(func(ctx context.Context, more <-chan struct{}) {
		if more == nil {
			now.Advance(200 * time.Millisecond)
			return
		}
		rests <- struct{}{}
		loop.Wait(ctx, more)
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	record(r, k.at(telemetry.Start, 0, 0, 0))
	select {
	case <-rests:
	case <-time.After(waittest.Limit):
		t.Fatal("what comes does not end a rest")
	}
	return r
}

// TestRecorder_OthersAreStoredAtOnceWhileOneOrganizationWaits: small groups of theirs need no spool, large ones no rest
// of it, and the log names who waits.
func TestRecorder_OthersAreStoredAtOnceWhileOneOrganizationWaits(t *testing.T) {
	t.Parallel()
	k := open(t)
	mend := k.fails(t, "XX001", "new.org_id = '"+k.org.String()+"'")
	now := clock.NewManual(noon)
	told := &seen{text: "accounting of one organization is put aside", done: make(chan struct{})}
	var spooled atomic.Int64 // groups
	r := k.alone(t, told, now, func(step string) {
		if step == "written" {
			spooled.Add(1)
		}
	})
	others := func(crowd []telemetry.Report) {
		waits := r.Status().SpoolBytes
		record(r, crowd...)
		for end := time.Now().Add(waittest.Limit); r.Status().SpoolBytes != waits; runtime.Gosched() {
			if time.Now().After(end) {
				t.Fatal("what others report waits")
			}
		}
		for _, one := range crowd {
			if len(k.rows(t.Context(), t, one.Device)) != 5 {
				t.Fatal("a session of others is not kept")
			}
		}
	}
	others(k.townsfolk(2)) // a small group
	if n := spooled.Load(); n != 1 {
		t.Errorf("%d groups were spooled", n)
	}
	now.Advance(time.Minute)
	record(r, k.at(telemetry.Interim, time.Minute, 1, 1))
	select {
	case <-told.done:
	case <-time.After(waittest.Limit):
		t.Error("the log does not tell who waits")
	}
	others(k.townsfolk(5)) // a large one
	mend()
	now.Advance(time.Minute)
	record(r, k.at(telemetry.Interim, 2*time.Minute, 2, 1))
	settle(t, r)
	if got := k.only(t); got.Down != 2 {
		t.Errorf("%+v", got)
	}
}

// TestRecorder_WhatOthersReportWhileOneOrganizationHasATryIsSpooled: a commit at once would wait for the try, which can
// take long, and the routers with it.
func TestRecorder_WhatOthersReportWhileOneOrganizationHasATryIsSpooled(t *testing.T) {
	t.Parallel()
	k := open(t)
	mend := k.fails(t, "XX001", "new.org_id = '"+k.org.String()+"'")
	now := clock.NewManual(noon)
	var spooled atomic.Int64 // groups
	var hold atomic.Bool
	tries, others := make(chan struct{}), make(chan struct{})
	r := k.alone(t, io.Discard, now, func(step string) {
		switch {
		case step == "written":
			spooled.Add(1)
		case step == "before commit" && hold.CompareAndSwap(true, false):
			close(tries)
			<-others
		}
	})
	hold.Store(true)
	now.Advance(time.Minute)
	record(r, k.at(telemetry.Interim, time.Minute, 1, 1))
	select {
	case <-tries:
	case <-time.After(waittest.Limit):
		t.Fatal("the organization has no try")
	}
	before, crowd := spooled.Load(), k.townsfolk(2) // a small group
	if n := record(r, crowd...); n != len(crowd) || spooled.Load() != before+1 {
		t.Errorf("%d acknowledged, %d groups spooled", n, spooled.Load()-before)
	}
	close(others)
	mend()
	now.Advance(time.Minute)
	record(r, k.at(telemetry.Interim, 2*time.Minute, 2, 1))
	// The try that was held may fail only now, so that the next one is a minute after this.
	for end := time.Now().Add(waittest.Limit); r.Spooled(); now.Advance(time.Second) {
		if time.Now().After(end) {
			t.Fatal("the spool is not taken")
		}
		runtime.Gosched()
	}
}

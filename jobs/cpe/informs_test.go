package cpejobs_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
)

// TestMain fails when a test leaves a goroutine behind.
func TestMain(m *testing.M) { pgtest.VerifyTestMain(m) }

// open gives the calls of CPEs by a clock that stands; nothing is written before Move or the end of started ones.
func open(t *testing.T) (*cpejobs.Informs, *clock.Manual) {
	t.Helper()
	now := clock.NewManual(time.Date(2026, 3, 1, 9, 0, 30, 0, time.UTC))
	informs, err := cpejobs.OpenInforms(t.Context(), pgtest.New(t), now, storetest.Quiet())
	if err != nil {
		t.Fatal(err)
	}
	return informs, now
}

// written writes what waits.
func written(t *testing.T, informs *cpejobs.Informs) {
	t.Helper()
	if err := informs.Move(t.Context(), id.New[id.CPE](), id.Organization{}); err != nil { // an unknown one
		t.Fatal(err)
	}
}

// counts fails unless so many CPEs of an organization have called since an instant; Since lists as many.
func counts(t *testing.T, informs *cpejobs.Informs, org id.Organization, since time.Time, want int) {
	t.Helper()
	n, err := informs.CountSince(t.Context(), org, since, since.Add(24*time.Hour))
	list, also := informs.Since(t.Context(), org, since)
	if err != nil || also != nil || !slices.Equal(n, []int{want, 0}) || len(list) != want {
		t.Errorf("since %s: %d, and a list of %d, want %d (%v, %v)", since, n, len(list), want, err, also)
	}
}

func TestInforms_AreCountedByTheMinute(t *testing.T) {
	t.Parallel()
	informs, now := open(t)
	began, acme, other := now.Now(), id.New[id.Organization](), id.New[id.Organization]()
	boxes := make([]id.CPE, 6)
	for i := range boxes {
		boxes[i] = id.New[id.CPE]()
		informs.Heard(boxes[i], acme)
		now.Advance(20 * time.Second)
	}
	informs.Heard(id.New[id.CPE](), other)
	informs.Heard(id.New[id.CPE](), id.Organization{})
	written(t, informs)
	for after, want := range map[time.Duration]int{
		-time.Hour: 6, 0: 6, time.Second: 5, 20 * time.Second: 5, 21 * time.Second: 4, 30 * time.Second: 4,
		100 * time.Second: 1, 101 * time.Second: 0,
	} {
		counts(t, informs, acme, began.Add(after), want)
	}
	informs.Heard(boxes[0], acme) // again: it counts once
	written(t, informs)
	counts(t, informs, acme, began, 6)
	counts(t, informs, acme, began.Add(101*time.Second), 1)
	counts(t, informs, other, began, 1)
}

func TestInforms_MoveWithTheirCpe(t *testing.T) {
	t.Parallel()
	informs, now := open(t)
	acme, box := id.New[id.Organization](), id.New[id.CPE]()
	began := now.Now()
	move := func(org id.Organization) {
		if err := informs.Move(t.Context(), box, org); err != nil {
			t.Fatal(err)
		}
	}
	informs.Heard(box, id.Organization{})
	move(acme) // also what was not written yet
	counts(t, informs, acme, began, 1)
	informs.Heard(box, id.Organization{}) // it was read before the claim, and is written after it
	written(t, informs)
	counts(t, informs, acme, began, 1)
	move(id.Organization{})
	counts(t, informs, acme, began, 0)
	now.Advance(2 * time.Minute)
	informs.Heard(box, acme) // what a claim could not move is right with a later call
	written(t, informs)
	counts(t, informs, acme, began, 1)
}

// TestInforms_ALaterCallIsNotReplacedByAnEarlierOne, unless the clock was put back.
func TestInforms_ALaterCallIsNotReplacedByAnEarlierOne(t *testing.T) {
	t.Parallel()
	informs, now := open(t)
	box, acme := id.New[id.CPE](), id.New[id.Organization]()
	last := func(want time.Time) {
		written(t, informs)
		found, err := informs.Latest(t.Context(), []id.CPE{box, id.New[id.CPE]()})
		if err != nil || len(found) != 1 || !found[box].Equal(want) {
			t.Errorf("last call %v, want %s (%v)", found, want, err)
		}
	}
	began := now.Now()
	informs.Heard(box, acme)
	last(began)
	now.Set(began.Add(-time.Minute))
	informs.Heard(box, acme)
	last(began)
	now.Set(began.Add(-time.Hour))
	informs.Heard(box, acme)
	last(began.Add(-time.Hour))
	counts(t, informs, acme, began.Add(-time.Hour), 1)
}

// TestInforms_ManyAtOnceAreCountedOnce: calls and moves from all sides, while others are written.
func TestInforms_ManyAtOnceAreCountedOnce(t *testing.T) {
	t.Parallel()
	informs, now := open(t)
	if err := informs.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	acme, boxes := id.New[id.Organization](), make([]id.CPE, 40)
	for i := range boxes {
		boxes[i] = id.New[id.CPE]()
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for _, box := range boxes {
				informs.Heard(box, id.Organization{})
				if err := informs.Move(context.WithoutCancel(t.Context()), box, acme); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	informs.Stop()
	counts(t, informs, acme, now.Now(), len(boxes))
}

// TestInforms_WhatOthersHeardDoesNotReplaceALaterCall, and is never of the future.
func TestInforms_WhatOthersHeardDoesNotReplaceALaterCall(t *testing.T) {
	t.Parallel()
	informs, now := open(t)
	box, acme, began := id.New[id.CPE](), id.New[id.Organization](), now.Now()
	last := func(want time.Time) {
		t.Helper()
		found, err := informs.Latest(t.Context(), []id.CPE{box})
		if err != nil || !found[box].Equal(want) {
			t.Errorf("last call %v, want %s (%v)", found, want, err)
		}
	}
	informs.HeardAt(box, acme, began.Add(-time.Hour))
	last(began.Add(-time.Hour))
	informs.Heard(box, acme)
	informs.HeardAt(box, acme, began.Add(-time.Minute))
	last(began)
	written(t, informs)
	informs.HeardAt(box, acme, began.Add(-time.Minute))
	written(t, informs)
	last(began)
	now.Advance(time.Minute)
	informs.HeardAt(box, acme, began.Add(time.Hour))
	last(now.Now())
}

// TestCounts_AreReadAgain after a second, and after each call that is written here.
func TestCounts_AreReadAgain(t *testing.T) {
	t.Parallel()
	db, now := pgtest.New(t), clock.NewManual(time.Date(2026, 3, 1, 9, 0, 30, 0, time.UTC))
	informs, err := cpejobs.OpenInforms(t.Context(), db, now, storetest.Quiet())
	if err != nil {
		t.Fatal(err)
	}
	acme, counts := id.New[id.Organization](), cpejobs.NewCounts(informs)
	lately := func(want int) {
		t.Helper()
		got, err := counts.Since(t.Context(), acme, now.Now().Add(-10*time.Minute), now.Now().Add(-time.Hour))
		if err != nil || !slices.Equal(got, []int{want, want}) {
			t.Errorf("%v: %v, want %d", got, err, want)
		}
	}
	lately(0)
	informs.Heard(id.New[id.CPE](), acme)
	written(t, informs)
	lately(1)
	// As another program would:
	if _, err := db.Owner.Exec(t.Context(), `delete from `+db.Namespace.Schema("cpe")+`.informs`); err != nil {
		t.Fatal(err)
	}
	now.Advance(time.Second - time.Millisecond)
	lately(1)
	now.Advance(time.Millisecond)
	lately(0)
	informs.Heard(id.New[id.CPE](), acme)
	written(t, informs)
	lately(1)
	now.Advance(-time.Minute) // the clock is put back
	lately(1)
}

package embedded

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// roomsClock is the time of the budgets of readers in a test, of which a client may leave memory unused for an hour.
type roomsClock struct {
	now time.Time
	all []*budget
}

// newRoomsClock has the budgets of readers.
func newRoomsClock(m *readMemory) *roomsClock {
	c := &roomsClock{now: time.Unix(0, 0), all: []*budget{m.rows, m.targets, m.frames}}
	for _, b := range c.all {
		b.now, b.patience = func() time.Time { return c.now }, time.Hour
	}
	return c
}

// pass lets time pass, and has the budgets look for clients that do not go on.
func (c *roomsClock) pass(d time.Duration) {
	for _, b := range c.all {
		b.mu.Lock()
	}
	c.now = c.now.Add(d)
	for _, b := range c.all {
		b.mu.Unlock()
		b.look()
	}
}

// stalls is how many rooms wait for their clients, and since when the one does that has waited longest.
func (c *roomsClock) stalls() (n int, oldest time.Time) {
	for _, b := range c.all {
		b.mu.Lock()
		for _, since := range b.stalls {
			if n++; oldest.IsZero() || since.Before(oldest) {
				oldest = since
			}
		}
		b.mu.Unlock()
	}
	return n, oldest
}

// largeReader is an outbox whose reader has all the room for events from pages, behind links and from the tail.
func largeReader(t *testing.T, m *readMemory, a *account) *outbox {
	t.Helper()
	o := newOutbox(m.frames, a, nil)
	o.others = otherRooms{page: m.rows.open(a), targets: m.targets.open(a), live: m.rows.open(a)}
	for h, bytes := range map[*holding]int64{
		o.others.page: rowsBytes / 2, o.others.live: rowsBytes / 2, o.others.targets: targetsBytes,
	} {
		if !h.try(bytes) {
			t.Fatal("free memory is not given")
		}
	}
	o.waits(true)
	return o
}

// freeRooms gives back what the reader has beside the room of its outbox.
func freeRooms(o *outbox) {
	o.close()
	o.others.page.free()
	o.others.targets.free()
	o.others.live.free()
}

// TestOutbox_AReaderThatWaitsForRoomIsNotDismissed for the room that it has already, whoever wants that. When it has
// all of it, its client has to go on.
func TestOutbox_AReaderThatWaitsForRoomIsNotDismissed(t *testing.T) {
	t.Parallel()
	m := newReadMemory()
	c := newRoomsClock(m)
	dismissed := make(chan struct{}, 100)
	o := largeReader(t, m, &account{disconnect: func(string) { dismissed <- struct{}{} }})
	others := m.frames.open(&account{})
	if !others.try(framesBytes) {
		t.Fatal("free memory is not given")
	}
	for _, b := range []*budget{m.rows, m.targets} {
		claimed(b.open(&account{}), 1)
	}
	ended := make(chan error)
	go func() { ended <- o.reserve(t.Context(), 1<<20, 1<<20) }()
	await(t, func() bool { return m.frames.wanted() == 1 })
	c.pass(2 * time.Hour)
	if len(dismissed) > 0 {
		t.Error("a reader is dismissed while the node lets it wait")
	}
	others.free()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if n, since := c.stalls(); n != 4 || since != c.now {
		t.Errorf("%d rooms wait for the client, since %v", n, since)
	}
	c.pass(2 * time.Hour)
	<-dismissed
	freeRooms(o)
}

// TestOutbox_AReaderThatWaitsForItselfIsDismissed: it wants more of what its own client leaves unused, and keeps what
// another one wants. A reader whose client begins to do so later, or is about to go on, is excused for a while alone.
func TestOutbox_AReaderThatWaitsForItselfIsDismissed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after bool          // its other calls wait for the client
		unused        time.Duration // for which they have waited before
		excused       time.Duration
	}{
		"at once":     {before: true, unused: time.Hour},
		"after while": {after: true, excused: 3 * time.Hour},
		"going on":    {before: true, unused: time.Minute, excused: 3 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newReadMemory()
				times := newRoomsClock(m)
				dismissed := make(chan struct{}, 100)
				owner := &account{disconnect: func(string) { dismissed <- struct{}{} }}
				sibling := m.frames.open(owner)
				if !sibling.try(framesBytes) {
					t.Fatal("free memory is not given")
				}
				sibling.waits(c.before)
				times.pass(c.unused)
				o := largeReader(t, m, owner)
				claimed(m.rows.open(&account{}), 1)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- o.reserve(ctx, 1<<20, 1<<20) }()
				synctest.Wait()
				sibling.waits(c.before || c.after)
				times.pass(c.excused)
				if synctest.Wait(); len(dismissed) > 0 {
					t.Error("dismissed too early")
				}
				times.pass(2 * time.Hour)
				<-dismissed
				cancel()
				<-ended
				sibling.free()
				freeRooms(o)
				m.rows.timer.Stop()
			})
		})
	}
}

// TestOutbox_AClientThatTakesEventsBehindALargeTargetGoesOn: the room of the targets of a page is given back when all
// of the page is sent.
func TestOutbox_AClientThatTakesEventsBehindALargeTargetGoesOn(t *testing.T) {
	t.Parallel()
	m := newReadMemory()
	c := newRoomsClock(m)
	owner := &account{}
	o := newOutbox(m.frames, owner, nil)
	o.fast, o.others.targets = true, m.targets.open(owner)
	if !o.others.targets.try(3 << 20) {
		t.Fatal("free memory is not given")
	}
	o.waits(true)
	for range 8 {
		c.pass(time.Minute)
		pieces, err := encode(t.Context(), o, 3, 10<<10) // the last one waits
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { ended <- o.flush(t.Context()) }()
		now := c.now
		await(t, func() bool { // it is seen that the client goes on
			_, since := c.stalls()
			return since == now
		})
		for _, p := range pieces {
			p.Free()
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	o.close()
	o.others.targets.free()
}

// TestOutbox_AClientThatTakesPartsOfALargeEventGoesOn with all of the memory that its reader has for it.
func TestOutbox_AClientThatTakesPartsOfALargeEventGoesOn(t *testing.T) {
	t.Parallel()
	const bytes = 10 * partBytes
	m := newReadMemory()
	c := newRoomsClock(m)
	o := largeReader(t, m, &account{})
	pieces, err := encode(t.Context(), o, 1, bytes)
	if err != nil || len(pieces[0].More) != 8 || pieces[0].Len()+pieces[0].More.Len() != bytes {
		t.Fatalf("an event of 10 parts has %d and %d bytes: %v", pieces[0].Len(), pieces[0].More.Len(), err)
	}
	ended := make(chan error)
	go func() { ended <- o.flush(t.Context()) }()
	pieces[0].Free()
	for _, part := range pieces[0].More {
		if m.frames.empty() {
			t.Error("a part of the event is not sent, and it has no room")
		}
		c.pass(time.Minute)
		now := c.now
		part.Free()
		await(t, func() bool {
			n, since := c.stalls()
			return since == now || n == 3 && m.frames.empty()
		})
	}
	if err := <-ended; err != nil || o.pending.Load() != 0 || !m.frames.empty() {
		t.Errorf("%v, %d bytes are counted for ever", err, o.pending.Load())
	}
	freeRooms(o)
}

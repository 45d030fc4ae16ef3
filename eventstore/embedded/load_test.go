package embedded

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
)

// heldLoad is an append that holds so many bytes and waits for its client, whose dismissal is counted.
func heldLoad(t *testing.T, n *Node, bytes int, dismissed *atomic.Int64) *load {
	t.Helper()
	l := n.newLoad(&account{disconnect: func(string) { dismissed.Add(1) }})
	if err := l.grow(t.Context(), bytes); err != nil {
		t.Fatal(err)
	}
	l.waits(true)
	return l
}

// TestMemory_AWriterThatWaitsForMemoryIsNotDismissed: its message is there, and the node does not take it. One of two
// that wait for each other gives up, with an answer, and the other one goes on.
func TestMemory_AWriterThatWaitsForMemoryIsNotDismissed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, dismissed := &Node{writes: newWriteMemory()}, &atomic.Int64{}
		n.writes.large.now, n.writes.large.patience = time.Now, loadPatience/(4*excused)
		ended := make(chan error, 2)
		for i := range 2 {
			l := heldLoad(t, n, writeBytes/2, dismissed)
			go func() {
				time.Sleep(time.Duration(i) * loadPatience / 100) // so that they do not give up together
				ended <- l.grow(t.Context(), 1<<20)
				l.free()
			}()
		}
		if err := <-ended; !errors.Is(err, errBusy) {
			t.Errorf("the first one gets %v", err)
		}
		if err := <-ended; err != nil || dismissed.Load() > 0 {
			t.Errorf("the second one gets %v, and %d are dismissed", err, dismissed.Load())
		}
		if synctest.Wait(); !NoWriteMemory(n) {
			t.Error("memory is lost")
		}
		n.writes.large.timer.Stop()
	})
}

// TestMemory_AnAppendIsNotLeftUnusedWhileTheNodeTakesNoMessage of another append on the connection, for which there is
// no memory.
func TestMemory_AnAppendIsNotLeftUnusedWhileTheNodeTakesNoMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, dismissed := &Node{writes: newWriteMemory()}, &atomic.Int64{}
		n.writes.large.now = time.Now
		begun := heldLoad(t, n, writeBytes/2, dismissed)
		other := n.newLoad(&account{}) // is at work
		if err := other.grow(t.Context(), writeBytes/2); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 2)
		for _, owner := range []*account{begun.owner, {}} {
			go func() { ended <- n.newLoad(owner).grow(t.Context(), 1<<20) }()
		}
		for range 2 {
			if err := <-ended; !errors.Is(err, errBusy) || dismissed.Load() > 0 {
				t.Errorf("one that waits gets %v, and %d are dismissed", err, dismissed.Load())
			}
		}
		begun.free()
		other.free()
		n.writes.large.timer.Stop()
	})
}

// TestMemory_ABatchThatTheNodeDoesNotTakeIsHeldBack while too many appends are committed, or wait to be.
func TestMemory_ABatchThatTheNodeDoesNotTakeIsHeldBack(t *testing.T) {
	t.Parallel()
	a, queue := &account{}, make(chan *write)
	n := &Node{writes: newWriteMemory(), sequencer: &sequencer{queue: queue}}
	c := &batchCall{service: &streamsService{node: n}, slots: make(chan struct{}, 1)}
	if err := c.slot(connected(a), nil); err != nil || a.allowedAt.Load() != nil {
		t.Fatalf("a free slot is waited for: %v", err)
	}
	for name, wait := range map[string]struct {
		begin func() error
		let   func()
	}{
		"for a slot": {func() error { return c.slot(connected(a), nil) }, func() { <-c.slots }},
		"in line":    {func() error { return c.enqueue(connected(a), &write{}) }, func() { <-queue }},
	} {
		ended := make(chan error)
		go func() { ended <- wait.begin() }()
		await(t, func() bool { return a.heldBack.Load() == 1 })
		wait.let()
		if err := <-ended; err != nil || a.heldBack.Load() != 0 || a.allowedAt.Load() == nil {
			t.Errorf("%s: %v, and it is held back for ever: %v", name, err, a.heldBack.Load() != 0)
		}
	}
}

// TestMemory_AnAppendInPartsIsCountedOnce: what a message holds becomes that of its append, without a wait for as much
// again.
func TestMemory_AnAppendInPartsIsCountedOnce(t *testing.T) {
	t.Parallel()
	const large = 10 << 20
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		parts        []int
		small, large int64 // bytes that are held then
	}{
		"large ones":          {[]int{large, large}, 0, 2 * large},
		"small ones":          {[]int{1000, 2000, 3000}, 6000, 0},
		"a large one first":   {[]int{large, 1000, large}, 0, 2*large + 1000},
		"a small one first":   {[]int{1000, large, large}, 0, 2*large + 1000},
		"small ones too many": {[]int{smallAppend, smallAppend, smallAppend}, 0, 3 * smallAppend},
		"too many":            {[]int{writeBytes, 1000}, 0, 0},
	} {
		n, a, b := &Node{writes: newWriteMemory()}, &account{}, &batch{}
		for _, bytes := range c.parts {
			memory := n.newLoad(a)
			if err := memory.grow(t.Context(), bytes); err != nil {
				t.Fatal(name, err)
			}
			b.add(over, &streams.BatchAppendReq{}, memory, incoming{})
		}
		small, held := n.writes.small.held, n.writes.large.held
		if refused := name == "too many"; small != c.small || held != c.large || refused != (b.proposals.fault != nil) {
			t.Errorf("%s: %d and %d bytes are held: %v", name, small, held, b.proposals.fault)
		}
		if n.writes.large.wanted() > 0 || b.load.held != small+held {
			t.Errorf("%s: it counts %d bytes", name, b.load.held)
		}
		if b.load.free(); !NoWriteMemory(n) {
			t.Errorf("%s: memory is lost", name)
		}
	}
}

// TestMemory_ManyAppendsInPartsDoNotWaitForEachOther: what all of them want is more than there is, and each of them has
// some when there is no more. The youngest are told to try again, so that the oldest go on.
func TestMemory_ManyAppendsInPartsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	for name, accounts := range map[string]int{"of many clients": 64, "of one": 1} {
		synctest.Test(t, func(t *testing.T) {
			n, began := &Node{writes: newWriteMemory()}, time.Now()
			n.writes.large.now, n.writes.small.now = time.Now, time.Now
			owners := make([]*account, accounts)
			for i := range owners {
				owners[i] = &account{disconnect: func(string) { t.Error("a client is dismissed") }}
			}
			appended := func(owner *account) bool {
				l := n.newLoad(owner)
				for range 16 {
					if l.grow(t.Context(), 64<<10+eventOverhead) != nil {
						return false
					}
					time.Sleep(time.Millisecond) // until its next message comes
				}
				l.free()
				return true
			}
			var group sync.WaitGroup
			for i := range 64 {
				group.Go(func() {
					for !appended(owners[i%accounts]) {
						time.Sleep(time.Millisecond) // it tries again
					}
				})
			}
			group.Wait()
			if took := time.Since(began); took > loadPatience/10 || !NoWriteMemory(n) {
				t.Errorf("%s: they wait for %v, or memory is lost", name, took)
			}
			n.writes.large.timer.Stop()
		})
	}
}

// TestMemory_AnAppendThatFitsIsNotRefusedForALargerOne: what it has was all that is held, and it goes on before one
// that has nothing.
func TestMemory_AnAppendThatFitsIsNotRefusedForALargerOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &Node{writes: newWriteMemory()}
		n.writes.large.now = time.Now
		first := n.newLoad(&account{})
		if err := first.grow(t.Context(), 13<<20); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		other := n.newLoad(&account{})
		go func() { ended <- other.grow(t.Context(), 159<<20/10) }()
		synctest.Wait()
		for range 13 {
			if err := first.grow(t.Context(), 150<<10); err != nil {
				t.Fatal(err)
			}
		}
		first.free()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if other.free(); !NoWriteMemory(n) {
			t.Error("memory is lost")
		}
		n.writes.large.timer.Stop()
	})
}

// TestMemory_BatchedAppendsInLargePartsDoNotWaitForEachOther: the memory of a part is asked for before it is known of
// which append it is.
func TestMemory_BatchedAppendsInLargePartsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, began := &Node{writes: newWriteMemory()}, time.Now()
		n.writes.large.now = time.Now
		refused := make(chan struct{}, 3)
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				owner := &account{}
				c := &batchCall{begun: map[uuid.UUID]*batch{}}
				b := &batch{}
				c.begun[uuid.New()] = b
				for range 4 {
					part := n.newLoad(owner)
					part.behind = c.holdings
					err := part.grow(t.Context(), 3<<20)
					if err == nil && b.load != nil {
						err = b.load.join(t.Context(), part)
					} else if err == nil {
						b.load = part
					}
					if err != nil {
						b.load.free()
						refused <- struct{}{}
						return
					}
					time.Sleep(time.Millisecond)
				}
				b.load.free()
			})
		}
		group.Wait()
		if took := time.Since(began); took > loadPatience/10 || len(refused) != 1 || !NoWriteMemory(n) {
			t.Errorf("%d are refused after %v, or memory is lost", len(refused), took)
		}
		n.writes.large.timer.Stop()
	})
}

// TestMemory_ABatchCallThatWaitsForItselfIsRefused at once, and nobody waits for it.
func TestMemory_ABatchCallThatWaitsForItselfIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, began := &Node{writes: newWriteMemory()}, time.Now()
		n.writes.large.now = time.Now
		c := &batchCall{begun: map[uuid.UUID]*batch{}}
		owner := &account{}
		for range 2 {
			l := n.newLoad(owner)
			if err := l.grow(t.Context(), 11<<20); err != nil {
				t.Fatal(err)
			}
			c.begun[uuid.New()] = &batch{load: l}
		}
		part := n.newLoad(owner)
		part.behind = c.holdings
		if err := part.grow(t.Context(), 3<<20); err != nil {
			t.Fatal(err)
		}
		if err := part.grow(t.Context(), 8<<20); !errors.Is(err, errBusy) {
			t.Errorf("got %v", err)
		}
		other := n.newLoad(&account{})
		if err := other.grow(t.Context(), 1<<20); err != nil || time.Since(began) > 0 {
			t.Errorf("another one waits for %v: %v", time.Since(began), err)
		}
	})
}

// TestMemory_WhoWaitsForThoseThatWaitElsewhereYields: a client that holds memory may not send before others, which wait
// for that memory, have gone on.
func TestMemory_WhoWaitsForThoseThatWaitElsewhereYields(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, began := &Node{writes: newWriteMemory()}, time.Now()
		n.writes.large.now = time.Now
		held := &account{disconnect: func(string) { t.Error("a client that is held back is dismissed") }}
		over := held.hold(time.Now)
		elsewhere := n.newLoad(held)
		if err := elsewhere.grow(t.Context(), 14<<20); err != nil {
			t.Fatal(err)
		}
		elsewhere.waits(true)
		var group sync.WaitGroup
		ended := make([]time.Duration, 2)
		for i := range ended {
			l := n.newLoad(&account{})
			if err := l.grow(t.Context(), 7<<20); err != nil {
				t.Fatal(err)
			}
			group.Go(func() {
				if err := l.grow(t.Context(), 2<<20); errors.Is(err, errBusy) != (i == 1) {
					t.Errorf("%d: %v", i, err)
				}
				ended[i] = time.Since(began)
				l.free()
			})
		}
		group.Wait()
		if ended[0] > loadPatience/2 || ended[1] < budgetPatience {
			t.Errorf("they end after %v", ended)
		}
		over()
		if elsewhere.free(); !NoWriteMemory(n) {
			t.Error("memory is lost")
		}
		n.writes.large.timer.Stop()
	})
}

// TestMemory_WhatFitsIsNotRefusedWhenNobodyGoesOn: it waits behind one that has nothing and wants more than is free.
func TestMemory_WhatFitsIsNotRefusedWhenNobodyGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &Node{writes: newWriteMemory()}
		n.writes.large.now = time.Now
		held := &account{disconnect: func(string) {}}
		defer held.hold(time.Now)()
		var loads []*load
		for _, mib := range []int{18, 5, 2} {
			l := n.newLoad(held)
			if mib < 18 {
				l = n.newLoad(&account{})
			}
			if err := l.grow(t.Context(), mib<<20); err != nil {
				t.Fatal(err)
			}
			loads = append(loads, l)
		}
		loads[0].waits(true)
		var group sync.WaitGroup
		group.Go(func() { _ = n.newLoad(&account{}).grow(t.Context(), 10<<20) })
		synctest.Wait()
		for _, l := range loads[1:] {
			group.Go(func() {
				if err := l.grow(t.Context(), 1<<20); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		n.writes.large.timer.Stop()
	})
}

// TestMemory_WhatFitsIsNotRefusedForAnOlderOne that has memory, wants more than is free, and would get it no sooner.
func TestMemory_WhatFitsIsNotRefusedForAnOlderOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &Node{writes: newWriteMemory()}
		n.writes.large.now = time.Now
		held := &account{disconnect: func(string) {}}
		defer held.hold(time.Now)()
		loads := []*load{n.newLoad(&account{}), n.newLoad(held), n.newLoad(&account{})}
		for i, mib := range []int{1, 14, 2} {
			if err := loads[i].grow(t.Context(), mib<<20); err != nil {
				t.Fatal(err)
			}
		}
		loads[1].waits(true)
		var group sync.WaitGroup
		group.Go(func() { _ = loads[0].grow(t.Context(), 14<<20) })
		synctest.Wait()
		if err := loads[2].grow(t.Context(), 100<<10); err != nil {
			t.Error(err)
		}
		group.Wait()
		n.writes.large.timer.Stop()
	})
}

// TestMemory_WhatLiesBehindAClaimIsNotElsewhere: the call that began it waits itself, for what is being written.
func TestMemory_WhatLiesBehindAClaimIsNotElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &Node{writes: newWriteMemory()}
		n.writes.large.now = time.Now
		caller := &account{}
		begun, written, other := n.newLoad(caller), n.newLoad(&account{}), n.newLoad(&account{})
		for l, mib := range map[*load]int{begun: 5, written: 20, other: 2} {
			if err := l.grow(t.Context(), mib<<20); err != nil {
				t.Fatal(err)
			}
		}
		begun.waits(true)
		part := n.newLoad(caller)
		part.behind = func() []*holding { return []*holding{begun.room} }
		var group sync.WaitGroup
		for l, mib := range map[*load]int{part: 3, other: 2} {
			group.Go(func() {
				if err := l.grow(t.Context(), mib<<20); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(5 * time.Second) // of the test's clock
		written.free()
		group.Wait()
		n.writes.large.timer.Stop()
	})
}

// TestBatch_OneThatCanNeverFitIsNotToBeRepeated although its last part has found no room.
func TestBatch_OneThatCanNeverFitIsNotToBeRepeated(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]error{9 << 20: errTooLarge, 1 << 20: errBusy} {
		n := &Node{writes: newWriteMemory()}
		b := &batch{load: n.newLoad(&account{})}
		if err := b.load.grow(t.Context(), 20<<20); err != nil {
			t.Fatal(err)
		}
		b.add(t.Context(), &streams.BatchAppendReq{}, n.newLoad(&account{}), incoming{fault: errBusy, bytes: bytes})
		if !errors.Is(b.proposals.fault, want) || !NoWriteMemory(n) {
			t.Errorf("%d bytes: %v, or memory is lost", bytes, b.proposals.fault)
		}
	}
}

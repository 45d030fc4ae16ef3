package embedded

import (
	"context"
	"errors"
	"testing"
	"time"
)

// claimed makes a claim and returns what is closed when it is fulfilled.
func claimed(h *holding, bytes int64) <-chan struct{} {
	ready := make(chan struct{})
	h.claim(bytes, func() { close(ready) })
	return ready
}

// isDone reports whether a channel is closed.
func isDone(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestBudget_TheConnectionThatHoldsLeastComesFirst whoever asked before, and within a connection the first one does.
func TestBudget_TheConnectionThatHoldsLeastComesFirst(t *testing.T) {
	t.Parallel()
	b := newBudget("test", 10)
	greedy, modest := &account{}, &account{}
	first, second, other := b.open(greedy), b.open(greedy), b.open(modest)
	if !first.try(8) {
		t.Fatal("free memory is not given")
	}
	more, again, few := claimed(second, 6), claimed(first, 1), claimed(other, 6)
	if isDone(more) || isDone(again) || isDone(few) {
		t.Fatal("more is given than there is")
	}
	if b.open(&account{}).try(1) {
		t.Error("one who does not wait gets what others wait for")
	}
	first.release(4)
	if isDone(more) || isDone(again) || !isDone(few) {
		t.Error("the connection that holds least is not the first")
	}
	other.free()
	if !isDone(more) || isDone(again) {
		t.Error("the first wish of a connection is not the first")
	}
	second.free()
	if !isDone(again) {
		t.Error("the last one waits for ever")
	}
	first.free()
	first.free()
	if !b.empty() {
		t.Error("memory is lost")
	}
}

// TestBudget_AWishThatIsWithdrawnHoldsUpNobody and takes nothing.
func TestBudget_AWishThatIsWithdrawnHoldsUpNobody(t *testing.T) {
	t.Parallel()
	b := newBudget("test", 10)
	one, two := b.open(&account{}), b.open(&account{})
	if !one.try(5) {
		t.Fatal("free memory is not given")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- b.open(&account{}).take(ctx, 9) }()
	await(t, func() bool { return b.wanted() == 1 })
	small := claimed(two, 2)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || !isDone(small) {
		t.Errorf("%v, and the next one has got it: %v", err, isDone(small))
	}
	one.free()
	two.free()
	if !b.open(&account{}).try(11) {
		t.Error("what is larger than the whole is never let through")
	}
}

// TestBudget_OnlyAClientThatOthersWaitForIsDismissed: the one that has left most memory unused for too long.
func TestBudget_OnlyAClientThatOthersWaitForIsDismissed(t *testing.T) {
	t.Parallel()
	b := newBudget("test", 10)
	now := time.Unix(0, 0)
	b.now = func() time.Time { return now }
	b.patience = time.Hour
	dismissed := make(chan string, 3)
	open := func(name string, bytes int64) *holding {
		h := b.open(&account{disconnect: func(string) { dismissed <- name }})
		if !h.try(bytes) {
			t.Fatal("free memory is not given")
		}
		return h
	}
	much, little, busy := open("much", 4), open("little", 1), open("busy", 5)
	much.waits(true)
	little.waits(true)
	now = now.Add(2 * time.Hour)
	b.look()
	own := claimed(b.open(much.owner), 1)
	b.mu.Lock()
	alone := b.othersWait(much.owner)
	b.mu.Unlock()
	if alone {
		t.Error("a connection waits for itself and counts as another one")
	}
	waits := claimed(b.open(&account{}), 3)
	little.waits(true) // goes on
	b.look()
	if name := <-dismissed; name != "much" || isDone(waits) {
		t.Errorf("%s is dismissed", name)
	}
	much.free()
	if !isDone(waits) || !isDone(own) {
		t.Error("the memory of the dismissed one is not given on")
	}
	now = now.Add(2 * time.Hour)
	b.look()
	if len(dismissed) > 0 {
		t.Error("nobody waits and one is dismissed")
	}
	busy.free()
	little.free()
}

// TestBudget_AWriterThatMayNotSendIsNotDismissed while the node holds a permission back, nor at once when it has it. It
// cannot hide behind one for ever.
func TestBudget_AWriterThatMayNotSendIsNotDismissed(t *testing.T) {
	t.Parallel()
	for _, given := range []bool{true, false} {
		in := newIntake(1 << 20)
		now := time.Unix(0, 0)
		appends := newWriteMemory().large
		for _, b := range []*budget{in.messages, appends} {
			b.now, b.patience = func() time.Time { return now }, time.Hour
		}
		conn := newTestConn()
		c := newConnection(conn, in)
		dismissed := make(chan struct{}, 10)
		c.disconnect = func(string) { dismissed <- struct{}{} }
		other := in.messages.open(&account{})
		written := appends.open(&c.account)
		if !other.try(1<<20) || !written.try(appends.total) {
			t.Fatal("free memory is not given")
		}
		written.waits(true)
		receive(t, c, conn, 100, append(make([]byte, prefaceBytes), http2Frame(frameHeaders, 0, 1, nil)...))
		receive(t, c, conn, 100, http2Frame(frameData, 0, 1, prefixOf(700_000)))
		if _, err := c.Write(widening(1, 700_000)); err != nil || len(conn.sent()) > 0 {
			t.Fatalf("the permission is not held back: %v", err)
		}
		claimed(appends.open(&account{}), 1)
		look := func(after time.Duration) bool {
			now = now.Add(after)
			appends.look()
			if idle := appends.idle(&c.account, now, time.Unix(0, 0)); !idle {
				return len(dismissed) > 0
			}
			<-dismissed
			return true
		}
		if look(2 * time.Hour) {
			t.Error("a writer that may not send is dismissed")
		}
		if !given {
			if look(time.Hour) || !look(time.Hour) {
				t.Error("a writer that may not send is dismissed too early, or never")
			}
			continue
		}
		other.free()
		<-conn.out
		if look(30*time.Minute) || !look(31*time.Minute) {
			t.Error("a writer that may send again is dismissed at once, or never")
		}
	}
}

// TestBudget_NobodyIsDismissedForBytesOutsideWhileClaimsAreServed or much is given back, however long others wait.
func TestBudget_NobodyIsDismissedForBytesOutsideWhileClaimsAreServed(t *testing.T) {
	t.Parallel()
	b := newBudget("test", 10*movedBytes)
	now := time.Unix(0, 0)
	relieved := make(chan struct{}, 10)
	b.now, b.patience = func() time.Time { return now }, time.Hour
	b.outside, b.relieve = func() int64 { return movedBytes }, func() { relieved <- struct{}{} }
	one := b.open(&account{})
	if !one.try(8 * movedBytes) {
		t.Fatal("free memory is not given")
	}
	second, third := claimed(b.open(&account{}), 3*movedBytes), claimed(b.open(one.owner), 9*movedBytes)
	pass := func() {
		now = now.Add(3 * time.Hour)
		b.look()
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.stuck(now) != 3*time.Hour || len(relieved) > 0 {
			t.Error("somebody is to be dismissed although claims are served")
		}
	}
	pass()
	one.release(2 * movedBytes)
	if !isDone(second) || isDone(third) {
		t.Fatal("the claim that fits is not served alone")
	}
	pass()
	one.release(movedBytes) // serves nobody, but is on the way
	pass()
	one.release(1)
	now = now.Add(time.Hour)
	b.look()
	<-relieved
}

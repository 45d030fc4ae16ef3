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

package feed

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// untilShort waits until the feed has found the log to be shorter, or not to be.
func untilShort(t *testing.T, f *Feed, want bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); (f.Short() != nil) != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("shorter: %v, want %v", f.Short(), want)
		}
	}
}

// TestFeed_OfAShorterLogServesNothingOfItsMemory: a log that was restored to an older state while the program ran has
// lost events that are in memory. A consumer whose checkpoint went back with it must not get them. Nothing is stopped:
// with the same events again all go on.
func TestFeed_OfAShorterLogServesNothingOfItsMemory(t *testing.T) {
	t.Parallel()
	log := newMemory()
	f := start(t, log)
	log.append(5)
	log.named(0)
	if err := f.Wait(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	lost := log.list
	mark := eventstore.Mark{Position: 3, ID: lost[2].ID}
	if err := f.Covers(t.Context(), 3, mark); err != nil {
		t.Fatalf("the whole log: %v", err)
	}
	log.mu.Lock()
	log.list = lost[:3:3] // no cursor breaks: only the log itself knows
	log.mu.Unlock()
	var short *eventstore.ShortLogError
	if err := f.Covers(t.Context(), 3, mark); !errors.As(err, &short) || short.Before != 5 || isOther(err) {
		t.Errorf("a consumer before the end of the log: %v", err)
	}
	if page, err := f.Read(t.Context(), 3, Want(nil), 10); !errors.As(err, &short) {
		t.Errorf("read %d events, %v", len(page.Events), err)
	}
	if page, ok := f.Recent(3, Want(nil), 10); ok {
		t.Errorf("%d events of memory", len(page.Events))
	}
	if _, ok := f.Clear(3, Want(nil)); ok {
		t.Error("memory knows what follows")
	}
	if end, err := f.End(t.Context()); !errors.As(err, &short) {
		t.Errorf("the end at %d, %v", end, err)
	}
	if f.Short() == nil {
		t.Error("nobody sees it")
	}
	log.mu.Lock()
	log.list = lost
	log.mu.Unlock()
	untilShort(t, f, false)
	if page, err := f.Read(t.Context(), 3, Want(nil), 10); err != nil || len(page.Events) != 2 {
		t.Errorf("the same log again: %d events, %v", len(page.Events), err)
	}
}

// TestFeed_IsNotFollowedBeyondTheEndOfAShorterLog: what the log gets there would be passed over for ever. Once it has
// grown the feed knows whether it is the same.
func TestFeed_IsNotFollowedBeyondTheEndOfAShorterLog(t *testing.T) {
	t.Parallel()
	log := newMemory()
	log.append(5)
	log.named(0)
	f := start(t, log)
	log.replace(3, 0)
	untilShort(t, f, true)
	log.mu.Lock()
	follows := log.follows
	log.mu.Unlock()
	if follows > 1 {
		t.Errorf("%d cursors, of which one was of the longer log", follows)
	}
	waits := make(chan error, 1)
	go func() { waits <- f.Wait(t.Context(), 4) }()
	log.append(4)
	log.named(3)
	limited, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	select {
	case err := <-f.Lost():
		if !isOther(err) {
			t.Errorf("the program hears %v", err)
		}
	case <-limited.Done():
		t.Fatal("the program hears nothing")
	}
	if err := <-waits; !isOther(err) {
		t.Errorf("who waits hears %v", err)
	}
}

// TestFeed_AReaderFarBehindPassesOverNothingOfAShorterLog: that the log has nothing for it there does not mean that all
// was read which memory follows.
func TestFeed_AReaderFarBehindPassesOverNothingOfAShorterLog(t *testing.T) {
	t.Parallel()
	log := newMemory()
	log.append(30)
	f := start(t, log) // memory begins at 30
	log.mu.Lock()
	log.list = log.list[:2]
	log.mu.Unlock()
	if page, err := f.Read(t.Context(), 2, Want([]string{"odd"}), 10); !isShort(err) {
		t.Errorf("up to %d, %v", page.UpTo, err)
	}
}

package paymentsjobs_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/jobs/payments"
)

// sends sends a confirmation of a length to a receiver.
func (r *keeper) sends(ctx context.Context, token string, length int) error {
	body := fmt.Appendf(nil, `{"x":"%s"}`, bytes.Repeat([]byte("a"), length-len(`{"x":""}`)))
	_, err := r.Receive(ctx, paymentsjobs.CallbackConfirmation, token, "198.51.100.7", body,
		func(string) error { return nil })
	return err
}

// TestKept_OneAddressLeavesRoomForAllOthers: what comes at the secret address of one shortcode fills its share of the
// disk. All others, and senders without a known token, have room afterwards.
func TestKept_OneAddressLeavesRoomForAllOthers(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	mine, theirs := k.paybillToken(t), k.paybillToken(t)
	r := k.keeping(t, t.TempDir(), true)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for r.sends(t.Context(), mine, 4<<10) == nil {
			}
		})
	}
	wg.Wait()
	for i := 0; r.confirms(t, mine, "198.51.100.7", fmt.Sprintf("SJK4X7QA%02d", i%100)) == nil; i++ { // the rest of it
	}
	if n := r.Kept.Len(); n < 3_000 || n > 10_000 {
		t.Errorf("one address has room for %d callbacks of 4 KiB", n)
	}
	for i := range 100 {
		if err := r.confirms(t, theirs, "198.51.100.7", fmt.Sprintf("SJK4X7QB%02d", i)); err != nil {
			t.Fatalf("another organization's money is refused: %v", err)
		}
	}
	if err := r.confirms(t, "", "198.51.100.7", "SJK4X7QB01"); err != nil {
		t.Errorf("money without a token is refused: %v", err)
	}
}

func TestKept_ALongCallbackIsSentAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	token := k.paybillToken(t)
	r := k.keeping(t, t.TempDir(), true)
	if err := r.sends(t.Context(), token, 4<<10+1); failure.CodeOf(err) != "callback_not_kept" {
		t.Errorf("a long callback: %v", err)
	}
	r.away.Store(false)
	if err := r.sends(t.Context(), token, 64<<10); err != nil {
		t.Error(err)
	}
	k.waiting(t, r, 1)
}

func TestKept_CutsWaitOnlyForWhatMayBeGenuine(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	token := k.paybillToken(t)
	r := k.keeping(t, t.TempDir(), true)
	holds := func(ever, money int64) {
		t.Helper()
		if e, m := r.Kept.Ever(), r.Kept.Money(); e != ever || m != money {
			t.Errorf("%d ever and %d now, want %d and %d", e, m, ever, money)
		}
	}
	if err := r.confirms(t, "invented", "198.51.100.7", "SJK4X7QA01"); err != nil {
		t.Fatal(err)
	}
	holds(0, 0)
	if err := r.confirms(t, token, "198.51.100.7", "SJK4X7QA02"); err != nil {
		t.Fatal(err)
	}
	holds(1, 2)
	r.away.Store(false)
	k.waiting(t, r, 2)
	holds(1, 0)
}

func TestReceive_WhoHangsUpSaysNothingAboutTheDatabase(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	token := k.paybillToken(t)
	r := k.keeping(t, t.TempDir(), false)
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	if err := r.sends(gone, token, 100); err != nil {
		t.Error(err)
	}
	k.waiting(t, r, 1)
	if n := r.Kept.Ever(); n != 0 {
		t.Errorf("%d callbacks were on the disk", n)
	}
}

// TestKept_ACallbackThatIsBeingWrittenCounts: nobody who looks at any moment finds that callbacks were on the disk, and
// that none is there, before they are in the inbox.
func TestKept_ACallbackThatIsBeingWrittenCounts(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	token := k.paybillToken(t)
	r := k.keeping(t, t.TempDir(), true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 20 {
			if err := r.confirms(t, token, "198.51.100.7", fmt.Sprintf("SJK4X7QA%02d", i)); err != nil {
				t.Error(err)
			}
		}
	}()
	for looks := true; looks; {
		select {
		case <-done:
			looks = false
		default:
		}
		if ever, now := r.Kept.Ever(), r.Kept.Money(); ever > 0 && now == 0 {
			t.Fatalf("%d callbacks were on the disk, and none is in the inbox", ever)
		}
	}
	r.away.Store(false)
	k.waiting(t, r, 20)
}

// TestKept_WhatIsStoredGivesItsRoomBackBesideOneThatIsRefused: the inbox refuses one row for as long as it is tried,
// and takes all others. Each outage has the whole room of their sender again, and the refused one keeps its own.
func TestKept_WhatIsStoredGivesItsRoomBackBesideOneThatIsRefused(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	r := k.keeping(t, t.TempDir(), true)
	r.reports(t)
	held := paymentsjobs.StrangerRoom(r.Kept, prompter)
	k.inboxRefuses(t, "XX001", paymentsjobs.CallbackPrompt)
	for outage := range 3 {
		r.away.Store(true)
		for i := range 90 { // about half of the room of an address, and fewer than it may send in a minute
			if err := r.sends(t.Context(), "", 4<<10); err != nil {
				t.Fatalf("outage %d: callback %d is refused with %d on the disk: %v", outage, i, r.Kept.Len(), err)
			}
		}
		r.away.Store(false)
		soon(t, "given back", func() bool { return paymentsjobs.StrangerRoom(r.Kept, "198.51.100.7") == 0 })
		if now := paymentsjobs.StrangerRoom(r.Kept, prompter); now != held || held == 0 || r.Kept.Len() != 1 {
			t.Errorf("the one of %d that is refused has room for %d octets, and had %d", r.Kept.Len(), now, held)
		}
		k.clock.Advance(2 * time.Minute) // the limit of a minute is forgotten
	}
}

// TestKept_WhatIsTakenOverGivesBackNoRoomOfOthers: of what was there before the start, which the inbox refuses, when
// callbacks that were taken over are stored.
func TestKept_WhatIsTakenOverGivesBackNoRoomOfOthers(t *testing.T) {
	t.Parallel()
	k, dir := newKit(t), t.TempDir()
	token := k.paybillToken(t)
	k.inboxRefuses(t, "XX001", paymentsjobs.CallbackPrompt)
	first, second := k.opened(t, dir, true), k.opened(t, dir, true)
	first.reports(t)
	if err := second.confirms(t, token, "196.201.214.200", "SJK4X7QB01"); err != nil {
		t.Fatal(err)
	}
	first.Kept.Stop()
	second.Kept.Stop()
	r := k.opened(t, dir, true)
	if err := r.confirms(t, "", "198.51.100.7", "SJK4X7QB02"); err != nil {
		t.Fatal(err)
	}
	before := paymentsjobs.InheritedRoom(r.Kept)
	if err := r.Kept.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	soon(t, "taken over", func() bool { return r.Kept.Len() == 3 })
	r.away.Store(false)
	soon(t, "given back", func() bool { return paymentsjobs.StrangerRoom(r.Kept, "198.51.100.7") == 0 })
	if now := paymentsjobs.InheritedRoom(r.Kept); now != before || before == 0 || r.Kept.Len() != 1 {
		t.Errorf("what was there has room for %d octets, and had %d; %d wait", now, before, r.Kept.Len())
	}
}

// prompter is the address from which reports come.
const prompter = "196.201.214.200"

// reports sends the result of a prompt to a receiver, without a token.
func (r *keeper) reports(t *testing.T) {
	t.Helper()
	_, err := r.Receive(t.Context(), paymentsjobs.CallbackPrompt, "", prompter, []byte(`{}`),
		func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
}

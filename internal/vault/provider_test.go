package vault_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// provider stands for the payment provider: its n-th token is "token n".
type provider struct{ calls atomic.Int32 }

// fetch counts one request and gives the next token.
func (p *provider) fetch(context.Context) (secrets.Text, error) {
	return secrets.Text(fmt.Sprintf("token %d", p.calls.Add(1))), nil
}

func TestProviderTokens_SharedByReplicasFor290Seconds(t *testing.T) {
	t.Parallel()
	k := open(t)
	var p provider
	replicas := []*vault.Vault{k.Vault, k.reopen(t, key(1)), k.reopen(t, key(1))}
	get := func(want secrets.Text) {
		t.Helper()
		var wg sync.WaitGroup
		for n := range 12 {
			wg.Go(func() {
				got, err := replicas[n%3].ProviderTokens.Token(t.Context(), "set 1", p.fetch)
				if err != nil || got != want {
					t.Errorf("have %q, %v; want %q", got.Reveal(), err, want.Reveal())
				}
			})
		}
		wg.Wait()
	}
	get("token 1")
	k.clock.Advance(vault.ProviderTokenTTL - time.Second)
	get("token 1")
	k.clock.Advance(time.Second)
	get("token 2")
	if got := must[secrets.Text](t)(k.ProviderTokens.Token(t.Context(), "set 2", p.fetch)); got != "token 3" {
		t.Errorf("another credential set got %q", got.Reveal())
	}
}

func TestProviderTokens_DropForgetsTheStaleOneOnly(t *testing.T) {
	t.Parallel()
	k := open(t)
	var p provider
	ctx := t.Context()
	stale := must[secrets.Text](t)(k.ProviderTokens.Token(ctx, "set", p.fetch))
	for range 2 { // the second drop finds the new token and leaves it
		if err := k.ProviderTokens.Drop(ctx, "set", stale); err != nil {
			t.Fatal(err)
		}
		if got := must[secrets.Text](t)(k.ProviderTokens.Token(ctx, "set", p.fetch)); got != "token 2" {
			t.Errorf("have %q", got.Reveal())
		}
	}
}

func TestProviderTokens_AFailedFetchIsNotKept(t *testing.T) {
	t.Parallel()
	k := open(t)
	broken := errors.New("broken")
	_, err := k.ProviderTokens.Token(t.Context(), "set",
		func(context.Context) (secrets.Text, error) { return "", broken })
	if !errors.Is(err, broken) {
		t.Errorf("have: %v", err)
	}
	_, err = k.ProviderTokens.Token(t.Context(), "set", func(context.Context) (secrets.Text, error) { return "", nil })
	wantCode(t, err, "provider_unavailable")
	var p provider
	if got := must[secrets.Text](t)(k.ProviderTokens.Token(t.Context(), "set", p.fetch)); got != "token 1" {
		t.Errorf("have %q", got.Reveal())
	}
}

func TestProviderTokens_ACallerThatGivesUpDoesNotSpoilTheFetch(t *testing.T) {
	t.Parallel()
	k := open(t)
	begun, finish := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	fetch := func(ctx context.Context) (secrets.Text, error) {
		close(begun)
		<-finish
		return "token", ctx.Err()
	}
	go func() {
		_, err := k.ProviderTokens.Token(ctx, "set", fetch)
		first <- err
	}()
	<-begun
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("have: %v", err)
	}
	second := make(chan secrets.Text)
	go func() {
		token, err := k.ProviderTokens.Token(t.Context(), "set", func(context.Context) (secrets.Text, error) {
			return "another", nil
		})
		if err != nil {
			t.Error(err)
		}
		second <- token
	}()
	close(finish)
	if got := <-second; got != "token" {
		t.Errorf("have %q", got.Reveal())
	}
}

// callback gives a verified confirmation with personal text in its body.
func callback() vault.Callback {
	return vault.Callback{
		Kind: "stk", Ref: uuid.New(), Shortcode: "174379", Verified: true,
		SourceIP: netip.MustParseAddr("196.201.214.200"), Body: []byte(`{"PhoneNumber":254700000001}`),
		ReceivedAt: start,
	}
}

// take takes all due callbacks and compares them with those that were stored.
func take(t *testing.T, k kit, want ...vault.Callback) []vault.TakenCallback {
	t.Helper()
	taken := must[[]vault.TakenCallback](t)(k.Inbox.Take(t.Context(), 10))
	got := []vault.Callback{}
	for _, c := range taken {
		got = append(got, c.Callback)
	}
	if d := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}), cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("taken (-want +got)\n%s", d)
	}
	return taken
}

func TestInbox_EachCallbackIsProcessedOnce(t *testing.T) {
	t.Parallel()
	k := open(t)
	a, b := callback(), callback()
	b.Ref, b.Verified, b.Shortcode = uuid.Nil, false, ""
	for _, c := range []vault.Callback{a, b} {
		must[uuid.UUID](t)(k.Inbox.Store(t.Context(), c))
	}
	taken := take(t, k, a, b)
	take(t, k) // none: all are held
	for _, c := range taken {
		if err := k.Inbox.Done(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	k.clock.Advance(time.Hour)
	take(t, k)
	if n := k.count(t,
		"select count(*) from {schema}.callbacks where position('254700000001'::bytea in sealed) > 0"); n != 0 {
		t.Error("stored in plain")
	}
	k.clock.Advance(vault.InboxKept)
	if err := k.Inbox.Purge(t.Context(), vault.InboxKept, vault.InboxWaits); err != nil {
		t.Fatal(err)
	}
	if n := k.count(t, "select count(*) from {schema}.callbacks"); n != 0 {
		t.Errorf("%d left", n)
	}
}

func TestInbox_ACrashedWorkersCallbackIsTakenByAnother(t *testing.T) {
	t.Parallel()
	k := open(t)
	c := callback()
	must[uuid.UUID](t)(k.Inbox.Store(t.Context(), c))
	dead := take(t, k, c)[0]
	k.clock.Advance(vault.InboxLease)
	live := take(t, k, c)[0]
	if dead.Attempts != 1 || live.Attempts != 2 {
		t.Errorf("attempts %d and %d", dead.Attempts, live.Attempts)
	}
	wantCode(t, k.Inbox.Done(t.Context(), dead), "callback_lease_lost")
	if err := k.Inbox.Fail(t.Context(), live, "provider unavailable", time.Minute); err != nil {
		t.Fatal(err)
	}
	take(t, k)
	want := []vault.PendingCallback{
		{
			ID: live.ID, Kind: "stk", Shortcode: "174379", Verified: true, ReceivedAt: start, Attempts: 2,
			LastFailure: "provider unavailable",
		},
	}
	if d := cmp.Diff(want, must[[]vault.PendingCallback](t)(k.Inbox.Pending(t.Context(), 10))); d != "" {
		t.Errorf("pending (-want +got)\n%s", d)
	}
	k.clock.Advance(time.Minute)
	if err := k.Inbox.Done(t.Context(), take(t, k, c)[0]); err != nil {
		t.Fatal(err)
	}
	if list := must[[]vault.PendingCallback](t)(k.Inbox.Pending(t.Context(), 10)); len(list) != 0 {
		t.Errorf("%d pending", len(list))
	}
}

func TestInbox_TheOnlyProgramTakesOverAtOnce(t *testing.T) {
	t.Parallel()
	k := open(t)
	c := callback()
	must[uuid.UUID](t)(k.Inbox.Store(t.Context(), c))
	dead := take(t, k, c)[0]
	if err := k.Inbox.TakeOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	live := take(t, k, c)[0]
	wantCode(t, k.Inbox.Done(t.Context(), dead), "callback_lease_lost")
	if err := k.Inbox.Done(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	if err := k.Inbox.TakeOver(t.Context()); err != nil { // must leave processed ones alone
		t.Fatal(err)
	}
	take(t, k)
}

func TestInbox_ManyWorkersNeverShareACallback(t *testing.T) {
	t.Parallel()
	k := open(t)
	for range 40 {
		must[uuid.UUID](t)(k.Inbox.Store(t.Context(), callback()))
	}
	var mu sync.Mutex
	seen := map[uuid.UUID]int{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				taken, err := k.Inbox.Take(t.Context(), 3)
				if err != nil {
					t.Error(err)
				}
				if len(taken) == 0 {
					return
				}
				mu.Lock()
				for _, c := range taken {
					seen[c.ID]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for callback, n := range seen {
		if n != 1 {
			t.Errorf("%s was taken %d times", callback, n)
		}
	}
	if len(seen) != 40 {
		t.Errorf("%d of 40 were taken", len(seen))
	}
}

func TestInbox_AnUnreadableCallbackDoesNotBlockTheOthers(t *testing.T) {
	t.Parallel()
	k := open(t)
	broken := must[uuid.UUID](t)(k.Inbox.Store(t.Context(), callback()))
	k.exec(t, "update {schema}.callbacks set sealed = 'x' where id = $1", broken)
	c := callback()
	must[uuid.UUID](t)(k.Inbox.Store(t.Context(), c))
	take(t, k, c)
	pending := must[[]vault.PendingCallback](t)(k.Inbox.Pending(t.Context(), 10))
	if len(pending) != 2 || pending[0].ID != broken || pending[0].LastFailure != "cannot be read" {
		t.Errorf("pending: %+v", pending)
	}
}

func TestInbox_WhatIsGivenUpIsAnAlarmUntilItIsPurged(t *testing.T) {
	t.Parallel()
	k := open(t)
	ctx := t.Context()
	proven, unproven, waiting, patient := callback(), callback(), callback(), callback()
	unproven.Verified = false
	for _, c := range []vault.Callback{proven, unproven, waiting, patient} {
		must[uuid.UUID](t)(k.Inbox.Store(ctx, c))
	}
	for _, c := range take(t, k, proven, unproven, waiting, patient) {
		var err error
		switch c.Ref {
		case waiting.Ref:
			err = k.Inbox.Fail(ctx, c, "broken", time.Minute)
		case patient.Ref:
			err = k.Inbox.Fail(ctx, c, "unknown", time.Minute)
		default:
			err = k.Inbox.GiveUp(ctx, c, "unknown")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	counted := func(wait, alarms int64) {
		t.Helper()
		if w, a, err := k.Inbox.Count(ctx, "unknown"); err != nil || w != wait || a != alarms {
			t.Errorf("%d wait and %d alarms, want %d and %d; %v", w, a, wait, alarms, err)
		}
	}
	counted(1, 1)
	purge := func() {
		t.Helper()
		if err := k.Vault.Purge(ctx); err != nil {
			t.Fatal(err)
		}
	}
	k.clock.Advance(vault.InboxKept)
	purge()
	counted(1, 0)
	k.clock.Advance(vault.InboxWaits - vault.InboxKept - time.Second)
	purge()
	counted(1, 0)
	k.clock.Advance(time.Second)
	purge()
	counted(0, 0)
}

func TestCallbackSecrets_OfPromptsAreForgottenAfterAMonth(t *testing.T) {
	t.Parallel()
	k := open(t)
	ctx := t.Context()
	tokens := map[string]secrets.Text{}
	for _, kind := range []string{"stk", "c2b"} {
		tokens[kind] = must[secrets.Text](t)(k.CallbackSecrets.Issue(ctx, vault.CallbackOwner{
			Kind: kind, Ref: uuid.New(),
		}))
	}
	k.clock.Advance(vault.PromptSecretsKept - time.Second)
	for range 2 {
		if err := k.Vault.Purge(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := k.CallbackSecrets.Lookup(ctx, tokens["c2b"]); err != nil {
			t.Errorf("the token of a shortcode: %v", err)
		}
		k.clock.Advance(time.Second)
	}
	_, err := k.CallbackSecrets.Lookup(ctx, tokens["stk"])
	wantCode(t, err, "callback_token_unknown")
}

// TestInbox_WhatNobodyHandlesIsUntaken: the clock of the program that received the callback is an hour ahead.
func TestInbox_WhatNobodyHandlesIsUntaken(t *testing.T) {
	t.Parallel()
	k := open(t)
	untaken := func(want bool, when string) {
		t.Helper()
		got, err := k.Inbox.Untaken(t.Context(), 10*time.Minute, 30*time.Second, "off", "away")
		if err != nil || got != want {
			t.Errorf("%s: untaken %v, %v", when, got, err)
		}
	}
	older := func(by string) {
		t.Helper()
		k.exec(t, `update {schema}.callbacks set stored_at = stored_at - interval '`+by+`'`)
	}
	c := callback()
	c.ReceivedAt = time.Now().Add(time.Hour)
	must[uuid.UUID](t)(k.Inbox.Store(t.Context(), c))
	untaken(false, "at once")
	older("30 seconds")
	untaken(true, "after half a minute")
	older("9 minutes")
	untaken(true, "after nine minutes")
	older("1 minute")
	untaken(false, "after ten minutes")

	c.ReceivedAt = time.Now().Add(-time.Hour)
	must[uuid.UUID](t)(k.Inbox.Store(t.Context(), c))
	for cause, want := range map[string]bool{"panicked": false, "away": true} {
		k.clock.Advance(time.Minute)
		for _, c := range must[[]vault.TakenCallback](t)(k.Inbox.Take(t.Context(), 10)) {
			if err := k.Inbox.Fail(t.Context(), c, cause, time.Second); err != nil {
				t.Fatal(err)
			}
		}
		untaken(want, "as soon as a try has failed: "+cause)
	}
	older("10 minutes")
	untaken(false, "ten minutes later")
}

func TestInbox_OnlyWhatIsVerifiedIsOwed(t *testing.T) {
	t.Parallel()
	k := open(t)
	var past time.Time // of the database's clock
	owed := func(want bool) {
		t.Helper()
		if got, err := k.Inbox.Owed(t.Context(), past, "unknown", "early"); err != nil || got != want {
			t.Errorf("owed: %v, %v", got, err)
		}
	}
	owed(false)
	unproven, early := callback(), callback()
	unproven.Verified = false
	must[uuid.UUID](t)(k.Inbox.Store(t.Context(), unproven))
	owed(false)
	must[uuid.UUID](t)(k.Inbox.Store(t.Context(), early))
	owed(true)
	past = k.seen(t).Now
	owed(false)
	past = past.Add(-time.Hour)
	owed(true)
	for _, c := range take(t, k, unproven, early) {
		if err := k.Inbox.Fail(t.Context(), c, "early", time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	owed(false)
}

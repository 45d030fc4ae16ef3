package vault_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// scope is one at the root host.
func scope(parts ...string) vault.Scope { return vault.Scope{Parts: parts} }

// begin calls Begin and fails the test when the outcome is not the wanted one.
func begin(t *testing.T, k kit, key, body string, want vault.IdempotencyOutcome) vault.Mark {
	t.Helper()
	m := must[vault.Mark](t)(k.Idempotency.Begin(t.Context(), scope("caller", key), []byte(body)))
	if m.Outcome != want {
		t.Fatalf("outcome %d, want %d", m.Outcome, want)
	}
	return m
}

func TestIdempotency_FirstAnswerIsReplayed(t *testing.T) {
	t.Parallel()
	k := open(t)
	const key = "key"
	m := begin(t, k, key, "body", vault.Fresh)
	begin(t, k, key, "body", vault.Running)
	begin(t, k, key, "other", vault.Mismatch)
	answer := vault.Answer{Status: 201, Header: map[string][]string{"Etag": {`"3"`}}, Body: []byte(`{"a":1}`)}
	if err := k.Idempotency.Complete(t.Context(), m, answer); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(answer, begin(t, k, key, "body", vault.Replay).Answer); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	begin(t, k, key, "other", vault.Mismatch)
	if n := k.count(t,
		"select count(*) from {schema}.idempotency where position('Etag'::bytea in sealed) > 0"); n != 0 {
		t.Error("stored in plain")
	}
	k.clock.Advance(vault.IdempotencyTTL)
	begin(t, k, key, "other", vault.Fresh)
}

func TestIdempotency_AKeyThatIsFreeAgainActsForAnyBody(t *testing.T) {
	t.Parallel()
	k := open(t)
	first := begin(t, k, "key", "body", vault.Fresh)
	if err := k.Idempotency.Free(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(time.Microsecond)
	second := begin(t, k, "key", "body", vault.Fresh)
	if second.Command == first.Command {
		t.Error("a new use of the key has the command of the one before")
	}
	if err := k.Idempotency.Free(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	begin(t, k, "key", "other body", vault.Fresh)
}

func TestIdempotency_AnUnknownOutcomeKeepsCommandAndBodyForADay(t *testing.T) {
	t.Parallel()
	k := open(t)
	first := begin(t, k, "key", "body", vault.Fresh)
	if err := k.Idempotency.Keep(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(vault.IdempotencyTTL - time.Second)
	begin(t, k, "key", "other body", vault.Mismatch)
	again := begin(t, k, "key", "body", vault.Fresh)
	if again.Command != first.Command {
		t.Errorf("the repeat acts under %s, the first try under %s", again.Command, first.Command)
	}
	// The first try may have acted: a refusal of the repeat does not make the key new.
	if err := k.Idempotency.Free(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	begin(t, k, "key", "other body", vault.Mismatch)
	third := begin(t, k, "key", "body", vault.Fresh)
	if third.Command != first.Command {
		t.Error("the third try would act twice")
	}
	if err := k.Idempotency.Keep(t.Context(), third); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(vault.IdempotencyTTL)
	if late := begin(t, k, "key", "body", vault.Fresh); late.Command == first.Command {
		t.Error("after a day the key never acts again")
	}
}

func TestIdempotency_CommandsOfOtherUsesDiffer(t *testing.T) {
	t.Parallel()
	k := open(t)
	seen := map[id.Command]bool{}
	for _, of := range [][]string{{"ada", "key"}, {"ad", "akey"}, {"olga", "key"}, {"ada", "other"}} {
		seen[must[vault.Mark](t)(k.Idempotency.Begin(t.Context(), scope(of...), []byte("body"))).Command] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d commands of 4 requests", len(seen))
	}
	other := open(t) // the same request at another installation
	m := must[vault.Mark](t)(other.Idempotency.Begin(t.Context(), scope("ada", "key"), []byte("body")))
	if seen[m.Command] {
		t.Error("a command id can be computed from the request alone")
	}
}

func TestIdempotency_LeaseOfADeadRequestIsTakenOver(t *testing.T) {
	t.Parallel()
	k := open(t)
	const key = "key"
	dead := begin(t, k, key, "body", vault.Fresh)
	k.clock.Advance(vault.IdempotencyLease)
	begin(t, k, key, "other", vault.Mismatch)
	live := begin(t, k, key, "body", vault.Fresh)
	if live.Command != dead.Command {
		t.Error("the repeat would act twice")
	}
	// The request that was taken for dead must neither answer for the other one nor clear its mark.
	if err := k.Idempotency.Complete(t.Context(), dead, vault.Answer{Status: 200, Body: []byte("dead")}); err != nil {
		t.Fatal(err)
	}
	if err := k.Idempotency.Free(t.Context(), dead); err != nil {
		t.Fatal(err)
	}
	begin(t, k, key, "body", vault.Running)
	if err := k.Idempotency.Complete(t.Context(), live, vault.Answer{Status: 200, Body: []byte("live")}); err != nil {
		t.Fatal(err)
	}
	if got := begin(t, k, key, "body", vault.Replay); string(got.Answer.Body) != "live" {
		t.Errorf("have %q", got.Answer.Body)
	}
	k.clock.Advance(vault.IdempotencyTTL)
	if err := k.Idempotency.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := k.count(t, "select count(*) from {schema}.idempotency"); n != 0 {
		t.Error("not purged")
	}
}

func TestIdempotency_OnlyOneOfManyIsFresh(t *testing.T) {
	t.Parallel()
	k := open(t)
	const key = "key"
	var fresh atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			m, err := k.Idempotency.Begin(t.Context(), scope(key), nil)
			if err != nil {
				t.Error(err)
			} else if m.Outcome == vault.Fresh {
				fresh.Add(1)
			}
		})
	}
	wg.Wait()
	if fresh.Load() != 1 {
		t.Errorf("%d were fresh", fresh.Load())
	}
}

func TestLimiter_BothKeepTheContract(t *testing.T) {
	t.Parallel()
	k := open(t)
	for name, l := range map[string]vault.Limiter{"postgres": k.Limits, "local": vault.NewLocalLimits(k.clock)} {
		allow := func(want bool) time.Duration {
			t.Helper()
			ok, wait, err := l.Allow(t.Context(), "user 1", 3, time.Minute)
			if err != nil || ok != want {
				t.Fatalf("%s: allowed %v, %v; want %v", name, ok, err, want)
			}
			return wait
		}
		k.clock.Set(start)
		for range 3 {
			allow(true)
		}
		wait := allow(false)
		if ok, _, _ := l.Allow(t.Context(), "user 2", 3, time.Minute); !ok {
			t.Errorf("%s: keys share a counter", name)
		}
		k.clock.Advance(wait - 2*time.Microsecond)
		allow(false)
		k.clock.Advance(3 * time.Microsecond)
		allow(true)
		allow(false)
		k.clock.Advance(2 * time.Minute)
		for range 3 {
			allow(true)
		}
		if ok, _, err := l.Allow(t.Context(), "nobody", 0, time.Minute); ok || err != nil {
			t.Errorf("%s: a limit of zero allowed a call, %v", name, err)
		}
	}
}

func TestLimiter_AClockThatIsPutBackShutsNobodyOut(t *testing.T) {
	t.Parallel()
	k := open(t)
	for name, l := range map[string]vault.Limiter{"postgres": k.Limits, "local": vault.NewLocalLimits(k.clock)} {
		k.clock.Set(start)
		for _, back := range []time.Duration{0, time.Hour, 24 * time.Hour, 2000 * time.Hour} {
			k.clock.Advance(-back)
			for range 2 { // the second time the window before counts
				for n := range 5 {
					ok, wait, err := l.Allow(t.Context(), "user", 3, time.Minute)
					if err != nil || n == 0 && !ok || wait > 2*time.Minute {
						t.Errorf("%s, %s back: %v, wait %s, %v", name, back, ok, wait, err)
					}
				}
				k.clock.Advance(90 * time.Second)
			}
		}
	}
}

func TestLimiter_BothCountAlike(t *testing.T) {
	t.Parallel()
	k := open(t)
	local := vault.NewLocalLimits(k.clock)
	const seed = 7
	r := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // a reproducible sequence
	for step := range 400 {
		k.clock.Advance(time.Duration(r.IntN(900_000)) * time.Microsecond)
		if r.IntN(30) == 0 {
			k.clock.Advance(time.Duration(r.IntN(25)) * time.Second)
		}
		key := fmt.Sprint(r.IntN(2))
		ok1, wait1, err := k.Limits.Allow(t.Context(), key, 5, 10*time.Second)
		ok2, wait2, _ := local.Allow(t.Context(), key, 5, 10*time.Second)
		if err != nil || ok1 != ok2 || wait1 != wait2 {
			t.Fatalf("seed %d, step %d: postgres %v %s %v, local %v %s", seed, step, ok1, wait1, err, ok2, wait2)
		}
	}
}

func TestLimiter_ACallOfSeveralQuotasCountsAgainstAllOrNone(t *testing.T) {
	t.Parallel()
	k := open(t)
	for name, l := range map[string]vault.SeveralLimiter{"postgres": k.Limits, "local": vault.NewLocalLimits(k.clock)} {
		own := vault.Quota{Key: "own", Limit: 3, Window: time.Minute}
		others := vault.Quota{Key: "others", Limit: 3, Window: time.Minute}
		all := vault.Quota{Key: "all", Limit: 5, Window: time.Minute}
		allow := func(want int, quotas ...vault.Quota) {
			t.Helper()
			got := 0
			for range 20 {
				ok, wait, err := l.AllowAll(t.Context(), quotas...)
				if err != nil || ok != (wait == 0) {
					t.Fatalf("%s: %v, wait %v, %v", name, ok, wait, err)
				}
				if ok {
					got++
				}
			}
			if got != want {
				t.Errorf("%s: %v allowed %d, want %d", name, quotas, got, want)
			}
		}
		allow(3, own, all)    // what its own quota refuses does not count against all
		allow(2, others, all) // and what all's quota refuses does not count against its own
		allow(1, others)
		allow(0, all)
	}
}

func TestLimits_SeveralQuotasAtOnceCountEveryCallOnce(t *testing.T) {
	t.Parallel()
	k := open(t)
	var allowed atomic.Int32
	var wg sync.WaitGroup
	for n := range 24 {
		wg.Go(func() {
			ok, _, err := k.Limits.AllowAll(t.Context(),
				vault.Quota{Key: fmt.Sprint("own ", n%3), Limit: 4, Window: time.Hour},
				vault.Quota{Key: "all", Limit: 10, Window: time.Hour})
			if err != nil {
				t.Error(err)
			}
			if ok {
				allowed.Add(1)
			}
		})
	}
	wg.Wait()
	if allowed.Load() != 10 {
		t.Errorf("allowed %d", allowed.Load())
	}
}

func TestLimits_ReplicasShareTheCount(t *testing.T) {
	t.Parallel()
	k := open(t)
	replicas := []*vault.Vault{k.Vault, k.reopen(t, key(1))}
	var allowed atomic.Int32
	var wg sync.WaitGroup
	for n := range 40 {
		wg.Go(func() {
			ok, _, err := replicas[n%2].Limits.Allow(t.Context(), "x", 10, time.Hour)
			if err != nil {
				t.Error(err)
			}
			if ok {
				allowed.Add(1)
			}
		})
	}
	wg.Wait()
	if allowed.Load() != 10 {
		t.Errorf("allowed %d", allowed.Load())
	}
	k.clock.Advance(2 * time.Hour)
	if err := k.Limits.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := k.count(t, "select count(*) from {schema}.limits"); n != 0 {
		t.Error("not purged")
	}
}

func TestCallbackSecrets_OneTokenPerOwner(t *testing.T) {
	t.Parallel()
	k := open(t)
	ctx := t.Context()
	owner := vault.CallbackOwner{Kind: "stk", Ref: uuid.New(), OrgID: id.New[id.Organization](), Shortcode: "174379"}
	platform := vault.CallbackOwner{Kind: "c2b", Ref: owner.Ref, Shortcode: "600000"}
	token := must[secrets.Text](t)(k.CallbackSecrets.Issue(ctx, owner))
	if again := must[secrets.Text](t)(k.CallbackSecrets.Issue(ctx, owner)); again != token || len(token) != 64 {
		t.Errorf("second token differs, or has %d characters", len(token))
	}
	other := must[secrets.Text](t)(k.CallbackSecrets.Issue(ctx, platform))
	for want, tok := range map[vault.CallbackOwner]secrets.Text{owner: token, platform: other} {
		if got := must[vault.CallbackOwner](t)(k.CallbackSecrets.Lookup(ctx, tok)); got != want {
			t.Errorf("have %+v, want %+v", got, want)
		}
	}
	if err := k.CallbackSecrets.Revoke(ctx, "stk", owner.Ref); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []secrets.Text{token, "", "x", token + token} {
		_, err := k.CallbackSecrets.Lookup(ctx, bad)
		wantCode(t, err, "callback_token_unknown")
	}
}

func TestCallbackSecrets_TokensInAddressesCannotFormAForbiddenWord(t *testing.T) {
	t.Parallel()
	k := open(t)
	for range 50 {
		token := must[secrets.Text](t)(k.CallbackSecrets.Issue(t.Context(), vault.CallbackOwner{
			Kind: "stk", Ref: uuid.New(), Shortcode: "174379",
		}))
		if rest := strings.Trim(token.Reveal(), "0123456789abcdef"); rest != "" {
			t.Fatalf("the provider may refuse an address with %q", rest)
		}
	}
}

func TestCallbackSecrets_WhatIsKnownOfTheirRegistrationStaysWithTheToken(t *testing.T) {
	t.Parallel()
	k, ctx := open(t), t.Context()
	owner := vault.CallbackOwner{Kind: "c2b", Ref: uuid.New(), Shortcode: "600000"}
	note := func(r vault.Registration) error {
		return k.CallbackSecrets.NoteRegistration(ctx, owner.Kind, owner.Ref, r)
	}
	tried := vault.Registration{State: vault.AddressesTried, Addresses: "aa"}
	if err := note(tried); err == nil {
		t.Error("noted without a token")
	}
	must[secrets.Text](t)(k.CallbackSecrets.Issue(ctx, owner))
	known := func() vault.Registration {
		return must[vault.Registration](t)(k.CallbackSecrets.Registration(ctx, owner.Kind, owner.Ref))
	}
	if known() != (vault.Registration{}) {
		t.Errorf("at first %+v", known())
	}
	for _, state := range []string{vault.AddressesTried, vault.AddressesRegistered} {
		if err := note(vault.Registration{State: state, Addresses: "aa"}); err != nil || known().State != state {
			t.Fatalf("%+v, %v", known(), err)
		}
		if must[bool](t)(k.CallbackSecrets.RevokeUnused(ctx, owner.Kind, owner.Ref)) {
			t.Errorf("a token of addresses that are %s was revoked", state)
		}
	}
	if err := note(vault.Registration{}); err != nil {
		t.Fatal(err)
	}
	if !must[bool](t)(k.CallbackSecrets.RevokeUnused(ctx, owner.Kind, owner.Ref)) || known() != (vault.Registration{}) {
		t.Errorf("an unused token stays, or what was known of it: %+v", known())
	}
}

func TestCallbackSecrets_RegisteredAddressesTakeTheShortcodeFromItsFormerOwners(t *testing.T) {
	t.Parallel()
	k, ctx := open(t), t.Context()
	var refs []uuid.UUID
	for range 3 {
		owner := vault.CallbackOwner{
			Kind: "c2b", Ref: uuid.New(), OrgID: id.New[id.Organization](), Shortcode: "600000",
		}
		must[secrets.Text](t)(k.CallbackSecrets.Issue(ctx, owner))
		refs = append(refs, owner.Ref)
	}
	had := vault.Registration{State: vault.AddressesRegistered, Addresses: "aa", Tried: "bb"}
	for _, ref := range refs {
		if err := k.CallbackSecrets.NoteRegistration(ctx, "c2b", ref, had); err != nil {
			t.Fatal(err)
		}
	}
	if all := must[[]vault.CallbackOwner](t)(k.CallbackSecrets.Owners(ctx, "c2b", "600000")); len(all) != 3 {
		t.Errorf("owners %+v", all)
	}
	if err := k.CallbackSecrets.NoteRegistration(ctx, "c2b", refs[0], had, refs[1]); err != nil {
		t.Fatal(err)
	}
	for i, want := range []vault.Registration{had, {State: vault.AddressesTaken}, had} {
		if r := must[vault.Registration](t)(k.CallbackSecrets.Registration(ctx, "c2b", refs[i])); r != want {
			t.Errorf("%d: %+v", i, r)
		}
	}
}

func TestPurge_RunsOverEmptyTables(t *testing.T) {
	t.Parallel()
	if err := open(t).Purge(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestErrors_AreFailuresThatCallersCanTell(t *testing.T) {
	t.Parallel()
	if errors.Is(vault.ErrReused, vault.ErrTokenInvalid) {
		t.Error("reuse and invalid are one")
	}
}

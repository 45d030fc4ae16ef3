package vault_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
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

// begin calls Begin and fails the test when the outcome is not the wanted one.
func begin(t *testing.T, k kit, key uuid.UUID, body string, want vault.IdempotencyOutcome) vault.Mark {
	t.Helper()
	m := must[vault.Mark](t)(k.Idempotency.Begin(t.Context(), key, []byte(body)))
	if m.Outcome != want {
		t.Fatalf("outcome %d, want %d", m.Outcome, want)
	}
	return m
}

func TestIdempotency_FirstAnswerIsReplayed(t *testing.T) {
	t.Parallel()
	k := open(t)
	key := uuid.New()
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

func TestIdempotency_AnErrorClearsTheMark(t *testing.T) {
	t.Parallel()
	k := open(t)
	key := uuid.New()
	for _, status := range []int{400, 409, 500, 302} {
		m := begin(t, k, key, "body", vault.Fresh)
		if err := k.Idempotency.Complete(t.Context(), m, vault.Answer{Status: status}); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Idempotency.Abandon(t.Context(), begin(t, k, key, "other body", vault.Fresh)); err != nil {
		t.Fatal(err)
	}
	begin(t, k, key, "body", vault.Fresh)
}

func TestIdempotency_LeaseOfADeadRequestIsTakenOver(t *testing.T) {
	t.Parallel()
	k := open(t)
	key := uuid.New()
	dead := begin(t, k, key, "body", vault.Fresh)
	k.clock.Advance(vault.IdempotencyLease)
	begin(t, k, key, "other", vault.Mismatch)
	live := begin(t, k, key, "body", vault.Fresh)
	// The request that was taken for dead must neither answer for the other one nor clear its mark.
	if err := k.Idempotency.Complete(t.Context(), dead, vault.Answer{Status: 200, Body: []byte("dead")}); err != nil {
		t.Fatal(err)
	}
	if err := k.Idempotency.Abandon(t.Context(), dead); err != nil {
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
	key := uuid.New()
	var fresh atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			m, err := k.Idempotency.Begin(t.Context(), key, nil)
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
	if again := must[secrets.Text](t)(k.CallbackSecrets.Issue(ctx, owner)); again != token || len(token) != 43 {
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

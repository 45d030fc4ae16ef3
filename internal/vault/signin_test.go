package vault_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// replace gives a user a password in place of the one before.
func (k *kit) replace(t *testing.T, user id.User, word secrets.Text) {
	t.Helper()
	if err := k.Passwords.Replace(t.Context(), user, k.hash(t, word), vault.Revocation{}); err != nil {
		t.Fatal(err)
	}
}

// hash computes what is stored of a password.
func (k *kit) hash(t *testing.T, word secrets.Text) vault.PasswordHash {
	t.Helper()
	return must[vault.PasswordHash](t)(k.Passwords.Hash(t.Context(), id.Organization{}, word))
}

// exchange replaces a verified password, and reports whether it was still the user's.
func (k *kit) exchange(t *testing.T, proven vault.Verified, word secrets.Text) bool {
	t.Helper()
	return must[bool](t)(k.Passwords.Exchange(t.Context(), proven, k.hash(t, word), vault.Revocation{}))
}

// right reports whether a password is the user's.
func (k *kit) right(t *testing.T, user id.User, word secrets.Text) bool {
	t.Helper()
	return must[vault.Verified](t)(k.Passwords.Verify(t.Context(), id.Organization{}, user, word)).Right()
}

func TestPasswords_OnlyTheLastOneOfItsUserIsRight(t *testing.T) {
	t.Parallel()
	k := open(t)
	user := id.New[id.User]()
	for _, word := range []secrets.Text{"first one", "second one"} {
		k.replace(t, user, word)
		if ok := k.right(t, user, word); !ok {
			t.Error("the right password was refused")
		}
	}
	for _, c := range []struct {
		user id.User
		word secrets.Text
	}{{user, "first one"}, {user, ""}, {id.New[id.User](), "second one"}, {id.User{}, "second one"}} {
		if ok := k.right(t, c.user, c.word); ok {
			t.Errorf("accepted for %s", c.user)
		}
	}
}

func TestPasswords_AVoidOneIsNobodysUntilItIsFilled(t *testing.T) {
	t.Parallel()
	k := open(t)
	had, none, other := id.New[id.User](), id.New[id.User](), id.New[id.User]()
	k.replace(t, had, "first one")
	k.replace(t, other, "first one")
	for range 2 {
		if err := k.Passwords.Void(t.Context(), []id.User{had, none}, vault.Revocation{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range []id.User{had, none} {
		if err := k.Passwords.Add(t.Context(), user, k.hash(t, "of before")); err != nil {
			t.Fatal(err)
		}
		if k.right(t, user, "first one") || k.right(t, user, "of before") || k.right(t, user, "") {
			t.Error("a void password is right")
		}
	}
	if !k.right(t, other, "first one") {
		t.Error("another user's password is void")
	}
	for _, word := range []secrets.Text{"second one", "third one"} {
		if err := k.Passwords.Fill(t.Context(), had, k.hash(t, word)); err != nil {
			t.Fatal(err)
		}
	}
	if !k.right(t, had, "second one") || k.right(t, had, "third one") {
		t.Error("only a void password is filled")
	}
}

func TestPasswords_AreExchangedOnlyForTheOneThatWasVerified(t *testing.T) {
	t.Parallel()
	k := open(t)
	user := id.New[id.User]()
	k.replace(t, user, "first one")
	proven := must[vault.Verified](t)(k.Passwords.Verify(t.Context(), id.Organization{}, user, "first one"))
	if !must[bool](t)(k.Passwords.Stands(t.Context(), proven)) ||
		!k.exchange(t, proven, "second one") {
		t.Error("the verified password is not exchanged")
	}
	if must[bool](t)(k.Passwords.Stands(t.Context(), proven)) ||
		k.exchange(t, proven, "third one") {
		t.Error("a password that came later is exchanged")
	}
	if !k.right(t, user, "second one") {
		t.Error("the second one was replaced")
	}
	wrong := must[vault.Verified](t)(k.Passwords.Verify(t.Context(), id.Organization{}, user, "wrong"))
	if wrong.Right() || must[bool](t)(k.Passwords.Stands(t.Context(), wrong)) {
		t.Error("a wrong password stands")
	}
}

func TestPasswords_AddingNeverReplacesOne(t *testing.T) {
	t.Parallel()
	k := open(t)
	user := id.New[id.User]()
	for _, word := range []secrets.Text{"first one", "second one"} {
		if err := k.Passwords.Add(t.Context(), user, k.hash(t, word)); err != nil {
			t.Fatal(err)
		}
	}
	first, second := k.right(t, user, "first one"), k.right(t, user, "second one")
	if !first || second {
		t.Errorf("the first is right: %v, the second: %v", first, second)
	}
}

func TestPasswords_OldParametersAreUpgradedOnSuccess(t *testing.T) {
	t.Parallel()
	k := open(t)
	user := id.New[id.User]()
	k.replace(t, user, "word")
	ring, err := secrets.New(key(1))
	if err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(t.Context(), vault.Config{
		DB: k.db, Keyring: ring, Clock: k.clock, Argon2: vault.Argon2{MemoryKiB: 128, Passes: 1, Threads: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if ok := must[vault.Verified](t)(v.Passwords.Verify(t.Context(), id.Organization{}, user,
			"word")).Right(); !ok {
			t.Fatal("refused")
		}
		if n := k.count(t, "select count(*) from {schema}.passwords where memory_kib = 128"); n != 1 {
			t.Error("not upgraded")
		}
	}
}

func TestLockouts_FiveWrongLockForFifteenMinutes(t *testing.T) {
	t.Parallel()
	k := open(t)
	ctx := t.Context()
	for n := range vault.LockoutTries {
		if try := must[vault.Try](t)(k.Lockouts.Try(ctx, "Jane@Example.com ")); !try.Allowed {
			t.Fatalf("attempt %d was locked", n+1)
		}
	}
	want := vault.Try{Until: start.Add(vault.LockoutTime)}
	for range 2 {
		k.clock.Advance(time.Minute)
		if d := cmp.Diff(want, must[vault.Try](t)(k.Lockouts.Try(ctx, "jane@example.com"))); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
	if try := must[vault.Try](t)(k.Lockouts.Try(ctx, "john@example.com")); !try.Allowed {
		t.Error("another e-mail is locked")
	}
	k.clock.Set(want.Until)
	for n := range vault.LockoutTries { // a full set of new attempts
		if try := must[vault.Try](t)(k.Lockouts.Try(ctx, "jane@example.com")); !try.Allowed {
			t.Fatalf("attempt %d after the lock was locked", n+1)
		}
	}
	if try := must[vault.Try](t)(k.Lockouts.Try(ctx, "jane@example.com")); try.Allowed {
		t.Error("not locked again")
	}
}

func TestLockouts_AClockThatIsPutBackShutsNobodyOut(t *testing.T) {
	t.Parallel()
	k := open(t)
	for range vault.LockoutTries + 1 {
		must[vault.Try](t)(k.Lockouts.Try(t.Context(), "jane@example.com"))
	}
	k.clock.Advance(-vault.LockoutTime)
	if try := must[vault.Try](t)(k.Lockouts.Try(t.Context(), "jane@example.com")); try.Allowed {
		t.Error("a lock ends when the clock is put back a little")
	}
	k.clock.Advance(-3 * time.Hour)
	for n := range vault.LockoutTries {
		if try := must[vault.Try](t)(k.Lockouts.Try(t.Context(), "jane@example.com")); !try.Allowed {
			t.Fatalf("attempt %d was locked", n+1)
		}
	}
}

func TestLockouts_SuccessAndTimeReset(t *testing.T) {
	t.Parallel()
	k := open(t)
	ctx := t.Context()
	tries := func(n int) {
		t.Helper()
		for range n {
			if try := must[vault.Try](t)(k.Lockouts.Try(ctx, "a@b.c")); !try.Allowed {
				t.Fatal("locked")
			}
		}
	}
	tries(5)
	if err := k.Lockouts.Succeed(ctx, "A@b.c"); err != nil { // the fifth was right
		t.Fatal(err)
	}
	tries(4)
	k.clock.Advance(vault.LockoutTime)
	tries(5)
	k.clock.Advance(vault.LockoutTime)
	if err := k.Lockouts.Purge(ctx); err != nil {
		t.Fatal(err)
	}
	if n := k.count(t, "select count(*) from {schema}.lockouts"); n != 0 {
		t.Error("not purged")
	}
}

func TestLockouts_ATryThatIsTakenBackLeavesTheOthersCounted(t *testing.T) {
	t.Parallel()
	k := open(t)
	ctx := t.Context()
	try := func() bool { return must[vault.Try](t)(k.Lockouts.Try(ctx, "a@b.c")).Allowed }
	back := func() {
		t.Helper()
		if err := k.Lockouts.TakeBack(ctx, "a@b.c"); err != nil {
			t.Fatal(err)
		}
	}
	back() // without a count
	for range 4 {
		for range 2 { // a wrong one, and a right one that opens nothing
			if !try() {
				t.Fatal("locked too early")
			}
		}
		back()
	}
	if !try() || try() {
		t.Error("the fifth wrong one does not lock")
	}
	back() // the fifth was right
	if !try() || try() {
		t.Error("the count goes on at another number")
	}
}

func TestLockouts_ParallelGuessesDoNotSlipThrough(t *testing.T) {
	t.Parallel()
	k := open(t)
	var allowed atomic.Int32
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			try, err := k.Lockouts.Try(t.Context(), "a@b.c")
			if err != nil {
				t.Error(err)
			}
			if try.Allowed {
				allowed.Add(1)
			}
		})
	}
	wg.Wait()
	if allowed.Load() != vault.LockoutTries {
		t.Errorf("%d guesses were allowed", allowed.Load())
	}
}

// issue starts a session of the user and gives its first token.
func issue(t *testing.T, k kit, user id.User) (secrets.Text, vault.Session) {
	t.Helper()
	token, s, err := k.RefreshTokens.Issue(t.Context(), vault.Session{
		ID: id.New[id.Session](), UserID: user, OrgID: id.New[id.Organization](),
	})
	if err != nil {
		t.Fatal(err)
	}
	return token, s
}

func TestRefreshTokens_RotationKeepsTheSession(t *testing.T) {
	t.Parallel()
	k := open(t)
	token, s := issue(t, k, id.New[id.User]())
	for range 3 {
		k.clock.Advance(vault.RefreshTokenTTL - time.Second)
		next, rotated, err := k.RefreshTokens.Rotate(t.Context(), token)
		if err != nil || next == token {
			t.Fatalf("rotate: %v", err)
		}
		s.UsedAt, s.ExpiresAt = k.clock.Now(), k.clock.Now().Add(vault.RefreshTokenTTL)
		if d := cmp.Diff(s, rotated); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		found, err := k.RefreshTokens.Lookup(t.Context(), next)
		if d := cmp.Diff(s, found); err != nil || d != "" {
			t.Errorf("lookup: %v (-want +got)\n%s", err, d)
		}
		token = next
	}
	k.clock.Advance(vault.RefreshTokenTTL)
	if _, _, err := k.RefreshTokens.Rotate(t.Context(), token); !errors.Is(err, vault.ErrTokenInvalid) {
		t.Errorf("expired: %v", err)
	}
	if _, _, err := k.RefreshTokens.Rotate(t.Context(), "made up"); !errors.Is(err, vault.ErrTokenInvalid) {
		t.Errorf("unknown: %v", err)
	}
	if n := k.count(t, "select count(*) from {schema}.refresh_tokens where position($1::bytea in hash) > 0",
		[]byte(token.Reveal())); n != 0 {
		t.Error("stored in plain")
	}
}

func TestRefreshTokens_ReuseRevokesBoth(t *testing.T) {
	t.Parallel()
	k := open(t)
	old, s := issue(t, k, id.New[id.User]())
	next, _, err := k.RefreshTokens.Rotate(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	_, reused, err := k.RefreshTokens.Rotate(t.Context(), old)
	if !errors.Is(err, vault.ErrReused) || reused.ID != s.ID {
		t.Errorf("reuse: session %s, %v", reused.ID, err)
	}
	for _, token := range []secrets.Text{old, next} {
		if _, _, err := k.RefreshTokens.Rotate(t.Context(), token); !errors.Is(err, vault.ErrTokenInvalid) {
			t.Errorf("after reuse: %v", err)
		}
	}
}

func TestRefreshTokens_ConcurrentUseOfOneTokenRotatesOnce(t *testing.T) {
	t.Parallel()
	k := open(t)
	token, _ := issue(t, k, id.New[id.User]())
	var rotated, reused atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			switch _, _, err := k.RefreshTokens.Rotate(t.Context(), token); {
			case err == nil:
				rotated.Add(1)
			case errors.Is(err, vault.ErrReused):
				reused.Add(1)
			case !errors.Is(err, vault.ErrTokenInvalid):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if rotated.Load() != 1 || reused.Load() != 1 {
		t.Errorf("rotated %d times, reuse reported %d times", rotated.Load(), reused.Load())
	}
}

func TestRefreshTokens_RevocationAndList(t *testing.T) {
	t.Parallel()
	k := open(t)
	ctx, user := t.Context(), id.New[id.User]()
	tokenA, a := issue(t, k, user)
	k.clock.Advance(time.Second)
	_, b := issue(t, k, user)
	k.clock.Advance(time.Second)
	tokenC, c := issue(t, k, user)
	_, foreign := issue(t, k, id.New[id.User]())
	if d := cmp.Diff([]vault.Session{c, b, a}, must[[]vault.Session](t)(k.RefreshTokens.List(ctx, user))); d != "" {
		t.Errorf("list (-want +got)\n%s", d)
	}
	k.revoke(t, vault.Revocation{Users: []id.User{user}, Only: b.ID})
	k.revoke(t, vault.Revocation{Users: []id.User{user}, Except: c.ID})
	if _, err := k.RefreshTokens.Lookup(ctx, tokenA); !errors.Is(err, vault.ErrTokenInvalid) {
		t.Errorf("a revoked session is found: %v", err)
	}
	if _, _, err := k.RefreshTokens.Rotate(ctx, tokenC); err != nil {
		t.Errorf("another session was ended: %v", err)
	}
	if list := must[[]vault.Session](t)(k.RefreshTokens.List(ctx, user)); len(list) != 1 || list[0].ID != c.ID {
		t.Errorf("open are %v", list)
	}
	if list := must[[]vault.Session](t)(k.RefreshTokens.List(ctx, foreign.UserID)); len(list) != 1 {
		t.Error("another user's session was ended")
	}
	k.clock.Advance(30 * 24 * time.Hour)
	if err := k.RefreshTokens.Purge(ctx); err != nil {
		t.Fatal(err)
	}
	if n := k.count(t, "select count(*) from {schema}.refresh_tokens"); n != 0 {
		t.Errorf("%d tokens left", n)
	}
}

package vault_test

import (
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// asked makes the code of an address at a host.
func asked(t *testing.T, v *vault.Vault, org id.Organization, address string) secrets.Text {
	t.Helper()
	request, err := v.Codes.Ask(t.Context(), vault.CodeWish{OrgID: org, Channel: "sms", Address: address})
	if err != nil {
		t.Fatal(err)
	}
	wish, err := v.Codes.Open(t.Context(), request)
	if err != nil || wish == nil || wish.Address != address || wish.OrgID != org {
		t.Fatalf("wish %+v, %v", wish, err)
	}
	code, err := v.Codes.Make(t.Context(), request)
	if err != nil || len(code.Reveal()) != 6 {
		t.Fatalf("code of %d characters, %v", len(code.Reveal()), err)
	}
	return code
}

// wrong differs from the right one.
func wrong(code secrets.Text) secrets.Text {
	if code.Reveal() == "000000" {
		return "000001"
	}
	return "000000"
}

// TestCodes_AreUsedOnceAtTheirHostWithinTheirTime: a code is nothing for another address, at another host, a second
// time and after five minutes; a new one voids the old one.
func TestCodes_AreUsedOnceAtTheirHostWithinTheirTime(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	v := coretest.NewVault(t, vault.Config{Clock: now})
	acme, zuri := id.New[id.Organization](), id.New[id.Organization]()
	const amina = "+254711000001"
	use := func(org id.Organization, address string, code secrets.Text, want bool) {
		t.Helper()
		if got, err := v.Codes.Use(t.Context(), org, address, code); err != nil || got != want {
			t.Errorf("use %v, %v", got, err)
		}
	}
	use(acme, amina, "123456", false)
	code := asked(t, v, acme, amina)
	use(zuri, amina, code, false)
	use(id.Organization{}, amina, code, false)
	use(acme, "+254711000002", code, false)
	use(acme, amina, code, true)
	use(acme, amina, code, false)

	old := asked(t, v, acme, amina)
	code = asked(t, v, acme, amina)
	if old != code {
		use(acme, amina, old, false)
	}
	use(acme, amina, code, true)

	code = asked(t, v, acme, amina)
	now.Advance(vault.CodeTTL)
	use(acme, amina, code, false)
}

// TestCodes_TheThirdWrongTryVoidsOne: also when all tries come at the same moment.
func TestCodes_TheThirdWrongTryVoidsOne(t *testing.T) {
	t.Parallel()
	v := coretest.NewVault(t, vault.Config{Clock: clock.System()})
	org := id.New[id.Organization]()
	code := asked(t, v, org, "a@example.com")
	for try := range vault.CodeTries {
		if right, err := v.Codes.Use(t.Context(), org, "a@example.com", wrong(code)); right || err != nil {
			t.Fatalf("try %d: %v, %v", try, right, err)
		}
	}
	if right, err := v.Codes.Use(t.Context(), org, "a@example.com", code); right || err != nil {
		t.Errorf("after three wrong ones: %v, %v", right, err)
	}
	code = asked(t, v, org, "a@example.com")
	var group sync.WaitGroup
	entered := make(chan bool, 16)
	for range cap(entered) {
		group.Go(func() {
			right, err := v.Codes.Use(t.Context(), org, "a@example.com", code)
			if err != nil {
				t.Error(err)
			}
			entered <- right
		})
	}
	group.Wait()
	close(entered)
	in := 0
	for right := range entered {
		if right {
			in++
		}
	}
	if in != 1 {
		t.Errorf("one code was used %d times", in)
	}
}

func TestVerified_ATokenIsUsedOnceWithinItsTime(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	v := coretest.NewVault(t, vault.Config{Clock: now})
	take := func(token secrets.Text, want string) {
		t.Helper()
		if got, err := v.Codes.TakeVerified(t.Context(), token); err != nil || got != want {
			t.Errorf("address %q, %v", got, err)
		}
	}
	token, err := v.Codes.Verified(t.Context(), "a@example.com")
	if err != nil {
		t.Fatal(err)
	}
	take("a guess", "")
	take(token, "a@example.com")
	take(token, "")
	if token, err = v.Codes.Verified(t.Context(), "a@example.com"); err != nil {
		t.Fatal(err)
	}
	now.Advance(vault.VerifiedTTL)
	take(token, "")
}

package vault_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

func TestLogos_OnlyThePresentOneStays(t *testing.T) {
	t.Parallel()
	k := open(t)
	ctx, logos := t.Context(), k.Vault.Logos
	acme, other := id.New[id.Organization](), id.New[id.Organization]()
	put := func(org id.Organization, digest string) {
		t.Helper()
		if err := logos.Put(ctx, org, digest, []byte("png of "+digest)); err != nil {
			t.Fatal(err)
		}
	}
	has := func(org id.Organization, digest string) bool {
		t.Helper()
		png, err := logos.Get(ctx, org, digest)
		if err != nil {
			t.Fatal(err)
		}
		return png != nil
	}
	tidy := func(present string) {
		t.Helper()
		if err := logos.Tidy(ctx, acme, present); err != nil {
			t.Fatal(err)
		}
	}
	put(acme, "a")
	put(other, "b")
	k.clock.Advance(2 * time.Hour)
	put(acme, "c")
	tidy("a")
	if !has(acme, "a") || !has(acme, "c") || has(acme, "b") || has(other, "a") {
		t.Error("the present one, one that may be chosen in a moment, or the border of the tenant is missing")
	}
	k.clock.Advance(2 * time.Hour)
	tidy("a")
	if !has(acme, "a") || has(acme, "c") || !has(other, "b") {
		t.Error("what nobody chose stays, or another organization's went")
	}
	for n := range 30 {
		k.clock.Advance(time.Second)
		put(acme, fmt.Sprint(n))
	}
	tidy("a")
	if !has(acme, "a") || !has(acme, "29") || has(acme, "0") {
		t.Error("there is no bound")
	}
}

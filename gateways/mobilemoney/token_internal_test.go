package mobilemoney

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// TestTokenCache_ForgetsTokensOfReplacedCredentials: nobody asks for them again, so only the next new token finds them.
func TestTokenCache_ForgetsTokensOfReplacedCredentials(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	cache := NewTokenCache(func(context.Context, Credentials) (string, error) { return "token", nil }, now)
	for n := range 5 {
		creds := Credentials{ConsumerKey: strconv.Itoa(n), ConsumerSecret: "secret"}
		if _, err := cache.Token(t.Context(), creds); err != nil {
			t.Fatal(err)
		}
		now.Advance(TokenLife)
	}
	if len(cache.tokens) != 1 {
		t.Errorf("%d tokens are kept, want the latest", len(cache.tokens))
	}
}

package identityapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/identity"
	"github.com/lastmile-isp/lastmile/internal/apikeys"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// measured is a server with a person, who is signed in, and a key of the person.
type measured struct {
	*apitest.Kit
	cookie, key string
}

// newMeasured makes the server with the parts of a program that check who calls.
func newMeasured(b *testing.B) measured {
	b.Helper()
	directory, ada := identityviews.NewDirectory(), id.New[id.User]()
	access := identityviews.NewAccess(runner.NewMemory(directory, runner.Config{}))
	access.Open()
	tokens := identityapi.Tokens{
		Key: make([]byte, 32), Directory: directory, Access: access, Proofs: identityapi.NewProofs(),
	}
	keys := identityapi.Keys{Form: apikeys.Development, Directory: directory, Access: access}
	m := measured{Kit: apitest.New(b, func(cfg *httpapi.Config) {
		cfg.Limits = httpapi.Limits{User: 1 << 30}
		cfg.Authenticator, cfg.Keys = &tokens, &keys
		tokens.Clock, keys.Clock = cfg.Clock, cfg.Clock
	}, apitest.NewParcels().Routes())}
	keys.Secrets = m.Vault.APIKeys
	keys.Uses = identityapi.NewKeyUses(keys.Secrets, m.Clock, slog.New(slog.DiscardHandler))
	org, key, secret := m.Orgs["acme"].ID, id.New[id.APIKey](), apikeys.New(id.New[id.APIKeySecret]())
	for _, e := range []events.Event{
		events.UserRegistered{UserID: ada}, events.AddressKeptApart{UserID: ada, OrgID: org},
		events.MembershipGranted{UserID: ada, OrgID: org, Role: events.RoleAdmin},
		events.APIKeyIssued{
			KeyID: key, OrgID: org, SecretID: secret.ID, Role: events.RoleAdmin, By: ada,
			Scopes: []string{"invoices:read", "parcels:read"}, AllowedAddresses: []string{"192.0.2.0/24"},
		},
	} {
		directory.Apply(events.Envelope{Event: e})
	}
	if stored, err := keys.Secrets.Put(b.Context(), key, secret, time.Time{}); err != nil || !stored {
		b.Fatal(err)
	}
	var err error
	m.cookie, err = tokens.Issue(ada, events.RoleAdmin, vault.Session{
		ID: id.New[id.Session](), OrgID: org, ExpiresAt: m.Clock.Now().Add(time.Hour),
	})
	if err != nil {
		b.Fatal(err)
	}
	m.key = keys.Form.Text(secret).Reveal()
	return m
}

// read reads a page, as a request that shows who sends it.
func (m measured) read(as func(r *http.Request)) error {
	r := httptest.NewRequest(http.MethodGet, "/parcels", nil)
	r.Host, r.RemoteAddr = apitest.Acme, "192.0.2.1:1234"
	as(r)
	w := httptest.NewRecorder()
	m.Server.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		return fmt.Errorf("status %d: %s", w.Code, w.Body)
	}
	return nil
}

// BenchmarkAPIKey compares requests with an API key, of limited scopes and addresses, with those of a person's cookie.
// A key costs no more than 1/0.9 of a cookie.
func BenchmarkAPIKey(b *testing.B) {
	m := newMeasured(b)
	rate := func(as func(r *http.Request)) func() float64 {
		return func() float64 {
			return benchtest.Rate(b, 1, func(context.Context, int) error { return m.read(as) })
		}
	}
	benchtest.Compare(b, "requests/s", 0.9,
		rate(func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+m.key) }),
		rate(func(r *http.Request) { r.AddCookie(&http.Cookie{Name: httpapi.CookieAccess, Value: m.cookie}) }))
}

package httpapi_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/audit"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// The people of an ispKit, all with this password. Root is the platform's; the others work for Acme, but Olga for
// Other.
const (
	rightPassword = "correct horse"
	rootEmail     = "root@platform.test"
	adminEmail    = "ada@acme.test"
	supportEmail  = "sue@acme.test"
	clientEmail   = "cleo@acme.test"
	olgaEmail     = "olga@other.test"
)

// ispKit is the platform without money: log, bus, directory, read models, vault, and the endpoints of identity and
// subscribers, with two organizations and their people. Time is moved by hand.
type ispKit struct {
	head func(context.Context) (uint64, error)
	*apitest.Kit
	clock *clock.Manual
	bus   *bus.Bus
	views *runner.Views
	shows *runner.Memory
	vault *vault.Vault
	key   []byte
	db    *postgres.DB
	feed  *feed.Feed
	acme  id.Organization
	other id.Organization
	users map[string]id.User // by e-mail
}

// WaitFor is httpapi.Visibility's.
func (k *ispKit) WaitFor(ctx context.Context, projection string, position uint64) error {
	return k.views.WaitFor(ctx, projection, position)
}

// newISPKit starts it.
func newISPKit(t *testing.T) *ispKit {
	t.Helper()
	store := storetest.New(t)
	k := &ispKit{
		db: store.DB, clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)),
		key: bytes.Repeat([]byte{9}, 32), users: map[string]id.User{},
	}
	ring, err := secrets.New(bytes.Repeat([]byte{7}, secrets.KeySize))
	if err == nil {
		k.vault, err = vault.Open(t.Context(), vault.Config{
			DB: store.DB, Keyring: ring, Clock: k.clock, Argon2: vault.Argon2{MemoryKiB: 64, Passes: 1, Threads: 1},
		})
	}
	if err != nil {
		t.Fatalf("open vault: %v", err)
	}
	k.bus = bus.New(bus.Config{Store: store.Store, Claims: k.vault.ClaimKey, Clock: k.clock, Logger: storetest.Quiet()})
	registerISP(k.bus)
	k.head = store.Store.Head
	f := feed.New(feed.FromStore(store.Store), storetest.Quiet())
	k.feed = f
	if err := f.Start(t.Context()); err != nil {
		t.Fatalf("start feed: %v", err)
	}
	t.Cleanup(f.Stop)
	shows := runner.New(runner.Config{Feed: f, DB: store.DB, Clock: k.clock})
	shows.Register(identityviews.Organizations{}, identityviews.Users{}, subscribersviews.Subscribers{},
		subscribersviews.Plans{}, subscribersviews.Subscriptions{})
	if err := shows.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(shows.Stop)
	k.views = shows.Views()
	k.serve(t, f)
	k.populate(t)
	return k
}

// registerISP adds the aggregates of both areas, and of refusals.
func registerISP(b *bus.Bus) {
	bus.Register(b, identity.Organizations())
	bus.Register(b, identity.Users())
	bus.Register(b, identity.Sessions())
	bus.Register(b, subscribers.Subscribers())
	bus.Register(b, subscribers.Plans())
	bus.Register(b, subscribers.Subscriptions())
	bus.Register(b, audit.Refusals())
}

// serve starts the directory and the server.
func (k *ispKit) serve(t *testing.T, f *feed.Feed) {
	t.Helper()
	directory := identityviews.NewDirectory()
	k.shows = runner.NewMemory(directory, f, storetest.Quiet())
	if err := k.shows.Start(t.Context()); err != nil {
		t.Fatalf("start directory: %v", err)
	}
	t.Cleanup(k.shows.Stop)
	users, people, owned := identityviews.UsersQuery{Views: k.views}, subscribersviews.SubscribersQuery{Views: k.views},
		subscribersviews.SubscriptionsQuery{Views: k.views}
	orgs := identityviews.OrganizationsQuery{Views: k.views}
	tokens := httpapi.Tokens{Key: k.key, Directory: directory, Clock: k.clock}
	settings := httpapi.OrganizationSettingsAPI{Bus: k.bus, Organizations: orgs, DirectoryShows: k.shows}
	k.Kit = apitest.New(t, func(c *httpapi.Config) {
		c.Organizations, c.Authenticator, c.Visibility = httpapi.OrganizationDirectory{Directory: directory}, tokens, k
		c.Idempotency, c.Clock, c.Refusals = k.vault.Idempotency, k.clock, httpapi.BusRefusals{Bus: k.bus}
	},
		httpapi.AuthAPI{
			Bus: k.bus, Users: users, Directory: directory, DirectoryShows: k.shows, Head: k.head, Tokens: tokens,
			Passwords: k.vault.Passwords, Lockouts: k.vault.Lockouts, Refresh: k.vault.RefreshTokens,
		}.Routes(),
		httpapi.OrganizationsAPI{
			Bus: k.bus, Organizations: orgs, Users: users, DirectoryShows: k.shows, Passwords: k.vault.Passwords,
		}.Routes(),
		httpapi.UsersAPI{
			Bus: k.bus, Users: users, DirectoryShows: k.shows, Passwords: k.vault.Passwords,
			Refresh: k.vault.RefreshTokens,
		}.Routes(),
		settings.Routes(),
		httpapi.SubscribersAPI{
			Bus: k.bus, Subscribers: people, Subscriptions: owned, Settings: settings, Clock: k.clock,
		}.Routes(),
		httpapi.PlansAPI{Bus: k.bus, Plans: subscribersviews.PlansQuery{Views: k.views}, Settings: settings}.Routes(),
		httpapi.SubscriptionsAPI{
			Bus: k.bus, Subscriptions: owned, Settings: settings, Secrets: k.vault.Secrets, Clock: k.clock,
		}.Routes(),
	)
}

// populate makes the organizations and the people.
func (k *ispKit) populate(t *testing.T) {
	t.Helper()
	for _, slug := range []string{"acme", "other"} {
		org := id.New[id.Organization]()
		k.do(t, commands.CreateOrganization{
			OrgID: org, Slug: slug, Name: "The " + slug, Billing: events.BillingSettings{
				Timezone: "Africa/Nairobi", Currency: money.KES, Country: "KE", InvoicePrefix: strings.ToUpper(slug),
				Tax: events.TaxRule{
					Inclusive: true, Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}},
				},
			},
		})
		if slug == "acme" {
			k.acme = org
		} else {
			k.other = org
		}
	}
	k.person(t, rootEmail, id.Organization{}, "")
	k.person(t, adminEmail, k.acme, events.RoleAdmin)
	k.person(t, supportEmail, k.acme, events.RoleSupport)
	k.person(t, clientEmail, k.acme, events.RoleSubscriber)
	k.settle(t, k.person(t, olgaEmail, k.other, events.RoleAdmin))
}

// person registers somebody with the right password, as a super_admin without an organization.
func (k *ispKit) person(t *testing.T, email string, org id.Organization, role events.Role) uint64 {
	t.Helper()
	user := id.New[id.User]()
	k.users[email] = user
	if err := k.vault.Passwords.Set(t.Context(), user, rightPassword); err != nil {
		t.Fatalf("set password: %v", err)
	}
	return k.do(t, commands.RegisterUser{
		UserID: user, Email: personal.Of(email), FirstName: personal.Of(strings.ToUpper(email[:3])),
		SuperAdmin: org.IsZero(), OrgID: org, Role: role,
	}).Position
}

// do executes a command of the platform itself.
func (k *ispKit) do(t *testing.T, c commands.Command) bus.Result {
	t.Helper()
	done, err := k.bus.Execute(t.Context(), c, commands.Meta{
		CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorOperator},
	})
	if err != nil {
		t.Fatalf("%s: %v", c.CommandName(), err)
	}
	return done
}

// settle waits until everything shows a position.
func (k *ispKit) settle(t *testing.T, position uint64) {
	t.Helper()
	if err := k.shows.WaitFor(t.Context(), position); err != nil {
		t.Fatalf("directory: %v", err)
	}
	for _, name := range []string{
		identityviews.OrganizationsName, identityviews.UsersName, subscribersviews.SubscribersName,
		subscribersviews.SubscriptionsName,
	} {
		if err := k.views.WaitFor(t.Context(), name, position); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// signedIn is what a login gives.
type signedIn struct {
	User struct {
		ID        string
		Email     string
		FirstName string
		LastName  string
		Phone     *string
		Role      string
	}
	Org                *struct{ ID, Slug, Name string }
	MustChangePassword bool
	AccessToken        string
	RefreshToken       string
}

// login asks to sign in.
func (k *ispKit) login(t *testing.T, host, email, password string) apitest.Answer {
	t.Helper()
	return k.Do(t, apitest.Request{
		Method: "POST", Host: host, Path: "/auth/login", Body: map[string]string{"email": email, "password": password},
	})
}

// signIn signs in with the right password.
func (k *ispKit) signIn(t *testing.T, host, email string) signedIn {
	t.Helper()
	a := k.login(t, host, email, rightPassword)
	if a.Status != 200 {
		t.Fatalf("sign in %s at %s: %d %s", email, host, a.Status, a.Body)
	}
	var in signedIn
	a.Into(t, &in)
	return in
}

// admin is the access token of Acme's administrator.
func (k *ispKit) admin(t *testing.T) string { return k.signIn(t, apitest.Acme, adminEmail).AccessToken }

// want sends a request and checks status and failure code.
func (k *ispKit) want(t *testing.T, status int, code string, r apitest.Request) apitest.Answer {
	t.Helper()
	a := k.Do(t, r)
	if a.Status != status || status >= 400 && a.Code() != code { // a plan has a code too
		t.Fatalf("%s %s at %s: %d %s, want %d %q", r.Method, r.Path, r.Host, a.Status, a.Body, status, code)
	}
	return a
}

// post is a POST at Acme.
func post(as, path string, body any) apitest.Request {
	return apitest.Request{Method: "POST", Path: path, As: as, Body: body}
}

// get is a GET at Acme.
func get(as, path string) apitest.Request { return apitest.Request{Path: path, As: as} }

// patch is a PATCH at Acme.
func patch(as, path string, body any) apitest.Request {
	return apitest.Request{Method: "PATCH", Path: path, As: as, Body: body}
}

// at is the request at another host.
func at(host string, r apitest.Request) apitest.Request {
	r.Host = host
	return r
}

// cookies are those that an answer sets, by name.
func cookies(a apitest.Answer) map[string]*http.Cookie {
	set := map[string]*http.Cookie{}
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		set[c.Name] = c
	}
	return set
}

// Package isptest runs the platform without money for contract tests: identity and subscribers on a real log, with real
// read models, a real vault and an HTTP server.
package isptest

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/audit"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/access"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/history"
	"github.com/lastmile-isp/lastmile/httpapi/identity"
	"github.com/lastmile-isp/lastmile/httpapi/messaging"
	"github.com/lastmile-isp/lastmile/httpapi/subscribers"
	"github.com/lastmile-isp/lastmile/internal/apikeys"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/internal/vouchers"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/access"
	"github.com/lastmile-isp/lastmile/usecases/billing"
	"github.com/lastmile-isp/lastmile/usecases/history"
	"github.com/lastmile-isp/lastmile/usecases/identity"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
	"github.com/lastmile-isp/lastmile/usecases/reports"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// E-mail addresses of the kit's people; all have RightPassword. Root is a super_admin. Acme has an admin, a support
// user and a subscriber; Olga is an admin of Other.
const (
	RightPassword = "correct horse"
	RootEmail     = "root@platform.test"
	AdminEmail    = "ada@acme.test"
	SupportEmail  = "sue@acme.test"
	ClientEmail   = "cleo@acme.test"
	OlgaEmail     = "olga@other.test"
)

// VoucherQuota is how many vouchers an organization may have, those that ended within seven days included.
const VoucherQuota = 1500

// Kit is the platform without money: log, bus, directory, read models, vault, and the endpoints of identity and
// subscribers, with two organizations and their people. Time moves only when a test moves Clock.
type Kit struct {
	*apitest.Kit
	Core  *coretest.Kit
	Clock *clock.Manual
	views *runner.Views
	shows *runner.Memory
	Vault *vault.Vault
	Key   []byte
	Uses  *identityapi.KeyUses // of API keys
	Acme  id.Organization
	Other id.Organization
	Users map[string]id.User // by e-mail
}

// Views are the kit's read models, among them those that billing needs.
func (k *Kit) Views() *runner.Views { return k.views }

// WaitFor implements httpapi.Visibility with the kit's read models.
func (k *Kit) WaitFor(ctx context.Context, projection string, position uint64) error {
	return k.views.WaitFor(ctx, projection, position)
}

// Codes are those of the kit's vouchers.
func (k *Kit) Codes() vouchers.Codes { return vouchers.NewCodes(k.Key) }

// New starts a kit with its organizations and people; all of it stops with the test.
func New(t *testing.T) *Kit {
	t.Helper()
	k := &Kit{
		Clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)),
		Key:   bytes.Repeat([]byte{9}, 32), Users: map[string]id.User{},
	}
	k.Core = coretest.NewWithVault(t, vault.Config{Clock: k.Clock},
		identityviews.Organizations{}, identityviews.Users{}, identityviews.APIKeys{}, subscribersviews.Subscribers{},
		subscribersviews.Plans{}, subscribersviews.Subscriptions{}, billingviews.Numbering{}, accessviews.Dunning{},
		accessviews.Vouchers{}, accessviews.Usage{})
	k.Vault = k.Core.Vault
	registerISP(k.Core.Bus)
	k.views = k.Core.Show(t)
	k.serve(t)
	k.populate(t)
	return k
}

// registerISP registers the aggregates of both areas, and refusals for the audit log.
func registerISP(b *bus.Bus) {
	bus.Register(b, identity.Organizations())
	bus.Register(b, identity.Users())
	bus.Register(b, identity.Sessions())
	bus.Register(b, identity.APIKeys())
	bus.Register(b, subscribers.Subscribers())
	bus.Register(b, subscribers.Plans())
	bus.Register(b, subscribers.Subscriptions())
	bus.Register(b, access.DunningPolicies())
	bus.Register(b, messaging.AllSettings())
	bus.Register(b, access.Dunnings())
	bus.Register(b, access.VoucherBatches())
	bus.Register(b, access.Vouchers())
	bus.Register(b, access.Usages())
	bus.Register(b, audit.Refusals())
	bus.Register(b, audit.Lookups())
}

// apiKeys makes the part that checks API keys, and their endpoints.
func (k *Kit) apiKeys(
	t *testing.T, cases identitycases.Cases, access *identityviews.Access, directory *identityviews.Directory,
) (identityapi.Keys, []httpapi.Route) {
	t.Helper()
	k.Uses = identityapi.NewKeyUses(k.Vault.APIKeys, k.Clock, storetest.Quiet())
	coretest.Start(t, "uses of API keys", k.Uses)
	return identityapi.Keys{
			Form: apikeys.Development, Directory: directory, Access: access, Secrets: k.Vault.APIKeys, Uses: k.Uses,
			Clock: k.Clock,
		}, identityapi.APIKeys{
			Cases: cases.APIKeys, Keys: identityviews.APIKeysQuery{Views: k.views},
			Users: identityviews.UsersQuery{Views: k.views}, Directory: directory, Uses: k.Uses, Clock: k.Clock,
		}.Routes()
}

// signingIn has the endpoints of sign-ins and second factors.
func signingIn(cases identitycases.Cases, users identityviews.UsersQuery, tokens identityapi.Tokens) []httpapi.Route {
	auth := identityapi.Auth{SignIns: cases.SignIns, Password: cases.OwnPassword, Users: users, Tokens: tokens}
	factors := identityapi.SecondFactors{Auth: auth, Cases: cases.SecondFactors, Platform: "Lastmile"}
	return append(auth.Routes(), factors.Routes()...)
}

// staff has the endpoints of users.
func (k *Kit) staff(cases identitycases.Cases, users identityviews.UsersQuery) []httpapi.Route {
	return identityapi.Users{
		Staff: cases.Staff, Factors: cases.SecondFactors, Users: users, DirectoryShows: k.shows,
	}.Routes()
}

// tokens makes the check of who calls.
func (k *Kit) tokens(directory *identityviews.Directory, signIns *identityviews.Access) identityapi.Tokens {
	return identityapi.Tokens{
		Key: k.Key, Directory: directory, Access: signIns, Clock: k.Clock, Proofs: identityapi.NewProofs(),
	}
}

// serve starts the directory of sign-ins, then the server.
func (k *Kit) serve(t *testing.T) {
	t.Helper()
	directory := identityviews.NewDirectory()
	k.shows = k.Core.Memory(t, directory)
	coretest.Start(t, "directory", k.shows)
	users, orgs := identityviews.UsersQuery{Views: k.views}, identityviews.OrganizationsQuery{Views: k.views}
	people, owned := subscribersviews.SubscribersQuery{Views: k.views},
		subscribersviews.SubscriptionsQuery{Views: k.views}
	signIns := identityviews.NewAccess(k.shows)
	signIns.Open()
	tokens := k.tokens(directory, signIns)
	cases := identitycases.New(identitycases.Config{
		Bus: k.Core.Bus, Vault: k.Vault, Users: users, Directory: directory, Access: signIns,
		DirectoryShows: k.shows, Head: k.Core.Store.Head, PrefixOpen: noInvoices, Clock: k.Clock,
		KeyForm: apikeys.Development, Locks: k.Core.DB, Logger: storetest.Quiet(),
	})
	keys, routes := k.apiKeys(t, cases, signIns, directory)
	k.Kit = apitest.New(t, func(c *httpapi.Config) {
		c.Organizations = identityapi.OrganizationDirectory{Directory: directory, Access: signIns}
		c.Authenticator, c.Visibility = tokens, k
		c.Subscribers, c.Keys = subscribersapi.Names(people), keys
		c.Idempotency, c.Clock, c.Refusals = k.Vault.Idempotency, k.Clock, httpapi.BusRefusals{Bus: k.Core.Bus}
	},
		signingIn(cases, users, tokens),
		identityapi.Organizations{
			Bus: k.Core.Bus, Cases: cases.Organizations, Organizations: orgs, DirectoryShows: k.shows,
			Subscribers: people.CountOf, Staff: users.Summary,
			Routers: func(context.Context, id.Organization) (int, error) { return 0, nil },
		}.Routes(),
		k.staff(cases, users), routes, messagingapi.Settings{Cases: messagingcases.Settings{Bus: k.Core.Bus}}.Routes(),
		identityapi.Settings{Cases: cases.Settings, Organizations: orgs, DirectoryShows: k.shows}.Routes(),
		subscribersapi.Subscribers{
			Cases: k.customers(), WriteOffs: k.writeOffs(), Bus: k.Core.Bus, Subscribers: people, Clock: k.Clock,
			Zone: k.zoneOf, Outages: noOutages, Unheard: noUnheard, Asked: noDue, Whole: k.owingNothing(people),
		}.Routes(),
		subscribersapi.Plans{
			Cases: subscriberscases.Plans{
				Bus: k.Core.Bus, PolicyKnown: accesscases.DunningPolicies{Bus: k.Core.Bus}.Known,
			},
			Bus: k.Core.Bus, Plans: subscribersviews.PlansQuery{Views: k.views},
		}.Routes(),
		subscribersapi.Subscriptions{
			Cases: subscriberscases.Subscriptions{
				Bus: k.Core.Bus, Secrets: k.Vault.Secrets, Limiter: k.Vault.Limits, Clock: k.Clock,
				Overlapping: owned.Overlapping,
			},
			Bus: k.Core.Bus, Subscriptions: owned, Clock: k.Clock, Dunning: accessviews.DunningQuery{Views: k.views},
		}.Routes(),
		accessapi.Dunning{Policies: accesscases.DunningPolicies{
			Bus: k.Core.Bus, Named: subscribersviews.PlansQuery{Views: k.views}.NamedPolicies,
		}}.Routes(),
		accessapi.Board{
			Cases:   accesscases.Board{Settings: usecases.RecordedSettings(k.Core.Bus), Clock: k.Clock},
			Holds:   accesscases.Holds{Bus: k.Core.Bus, Clock: k.Clock},
			Dunning: accessviews.DunningQuery{Views: k.views},
		}.Routes(),
		accessapi.Access{Cases: k.explanations(people, owned), Zone: k.zoneOf}.Routes(), // no router has told anything
		k.vouchers(), k.histories(users),
	)
}

// vouchers makes the endpoints of vouchers.
func (k *Kit) vouchers() []httpapi.Route {
	list := accessviews.VouchersQuery{Views: k.views}
	return accessapi.Vouchers{
		Cases: accesscases.Vouchers{
			Bus: k.Core.Bus, Codes: k.Codes(), BatchOf: list.BatchOf, Since: list.Since,
			Unused:          list.Unused,
			PerOrganization: VoucherQuota, Locks: k.Core.DB, Clock: k.Clock,
		},
		List: list, Names: towers, Clock: k.Clock, Staff: identityviews.UsersQuery{Views: k.views}.Names,
	}.Routes()
}

// histories has the endpoints of the past of aggregates.
func (k *Kit) histories(users identityviews.UsersQuery) []httpapi.Route {
	return historyapi.History{
		Cases: historycases.Histories{Bus: k.Core.Bus}, Clock: k.Clock, Zone: k.zoneOf,
		Names: func(
			ctx context.Context, org id.Organization, kind string, list []id.Any,
		) (map[id.Any]string, error) {
			out := map[id.Any]string{}
			if kind != "user" {
				return out, nil
			}
			people := make([]id.User, len(list))
			for i, one := range list {
				people[i] = id.User(one)
			}
			names, err := users.Names(ctx, org, people)
			for user, name := range names {
				out[id.Any(user)] = name
			}
			return out, err
		},
	}.Routes()
}

// towers names every router "tower".
func towers(_ context.Context, _ id.Organization, list []id.Device) (map[id.Device]string, error) {
	names := map[id.Device]string{}
	for _, device := range list {
		names[device] = "tower"
	}
	return names, nil
}

// zoneOf is the zone in which the dates of an organization are.
func (k *Kit) zoneOf(ctx context.Context, org id.Organization) (*time.Location, error) {
	return usecases.RecordedSettings(k.Core.Bus).Zone(ctx, org)
}

// explanations answers why subscribers are on or off. No router reports to the kit.
func (k *Kit) explanations(
	people subscribersviews.SubscribersQuery, owned subscribersviews.SubscriptionsQuery,
) accesscases.Explanations {
	return accesscases.Explanations{
		Bus: k.Core.Bus, Subscribers: people, Subscriptions: owned, Dunning: accessviews.DunningQuery{Views: k.views},
		Settings: usecases.RecordedSettings(k.Core.Bus), Clock: k.Clock, Logger: storetest.Quiet(),
	}
}

// noInvoices says that no invoice is open, as on a platform without money.
func noInvoices(context.Context, id.Organization, string) (bool, error) { return false, nil }

// populate makes Acme and Other, both with 16 % VAT in the price, and the people, and waits until they are shown.
func (k *Kit) populate(t *testing.T) {
	t.Helper()
	for _, slug := range []string{"acme", "other"} {
		org := id.New[id.Organization]()
		k.Run(t, coretest.NewOrganization(org, slug))
		if slug == "acme" {
			k.Acme = org
		} else {
			k.Other = org
		}
	}
	k.person(t, RootEmail, id.Organization{}, "")
	k.person(t, AdminEmail, k.Acme, events.RoleAdmin)
	k.person(t, SupportEmail, k.Acme, events.RoleSupport)
	k.person(t, ClientEmail, k.Acme, events.RoleSubscriber)
	k.Settle(t, k.person(t, OlgaEmail, k.Other, events.RoleAdmin))
}

// person registers somebody with RightPassword and gives the position of the event. Without an organization the person
// is a super_admin.
func (k *Kit) person(t *testing.T, email string, org id.Organization, role events.Role) uint64 {
	t.Helper()
	user := id.New[id.User]()
	k.Users[email] = user
	coretest.SetPassword(t, k.Vault, user, RightPassword)
	at := k.Run(t, commands.RegisterUser{
		UserID: user, Email: personal.Of(email), FirstName: personal.Of(strings.ToUpper(email[:3])),
		SuperAdmin: org.IsZero(), OrgID: org, Role: role,
	}).Position
	if role == events.RoleAdmin {
		at = k.Run(t, commands.SeatAdministrator{OrgID: org, UserID: user}).Position
	}
	return at
}

// Run executes a command as the platform's operator; a failure ends the test.
func (k *Kit) Run(t *testing.T, c commands.Command) bus.Result {
	t.Helper()
	return k.Core.Run(t, coretest.Operator(id.Organization{}), c)
}

// Settle waits until the directory and the read models of people, subscriptions and vouchers show a position.
func (k *Kit) Settle(t *testing.T, position uint64) {
	t.Helper()
	if err := k.shows.WaitFor(t.Context(), position); err != nil {
		t.Fatalf("directory: %v", err)
	}
	coretest.WaitFor(t, k.views, position, identityviews.OrganizationsName, identityviews.UsersName,
		subscribersviews.SubscribersName, subscribersviews.SubscriptionsName, accessviews.VouchersName)
}

// SignedIn is the answer of POST /auth/login as a client reads it.
type SignedIn struct {
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

// Login sends POST /auth/login; the answer may be a refusal.
func (k *Kit) Login(t *testing.T, host, email, password string) apitest.Answer {
	t.Helper()
	return k.Do(t, apitest.Request{
		Method: "POST", Host: host, Path: "/auth/login", Body: map[string]string{"email": email, "password": password},
	})
}

// SignIn signs in with RightPassword; a refusal ends the test.
func (k *Kit) SignIn(t *testing.T, host, email string) SignedIn {
	t.Helper()
	a := k.Login(t, host, email, RightPassword)
	if a.Status != 200 {
		t.Fatalf("sign in %s at %s: %d %s", email, host, a.Status, a.Body)
	}
	var in SignedIn
	a.Into(t, &in)
	return in
}

// Admin signs Acme's administrator in and gives the access token. Each call opens a session.
func (k *Kit) Admin(t *testing.T) string { return k.SignIn(t, apitest.Acme, AdminEmail).AccessToken }

// Want sends a request. Another status, or another failure code for a status from 400 on, ends the test.
func (k *Kit) Want(t *testing.T, status int, code string, r apitest.Request) apitest.Answer {
	t.Helper()
	a := k.Do(t, r)
	if a.Status != status || status >= 400 && a.Code() != code { // a plan has a code too
		t.Fatalf("%s %s at %s: %d %s, want %d %q", r.Method, r.Path, r.Host, a.Status, a.Body, status, code)
	}
	return a
}

// Post is a POST at Acme with the given access token and JSON body.
func Post(as, path string, body any) apitest.Request {
	return apitest.Request{Method: "POST", Path: path, As: as, Body: body}
}

// Get is a GET at Acme with the given access token.
func Get(as, path string) apitest.Request { return apitest.Request{Path: path, As: as} }

// Patch is a PATCH at Acme with the given access token and JSON body.
func Patch(as, path string, body any) apitest.Request {
	return apitest.Request{Method: "PATCH", Path: path, As: as, Body: body}
}

// At is the same request at another host.
func At(host string, r apitest.Request) apitest.Request {
	r.Host = host
	return r
}

// Cookies has the cookies that an answer sets, by name.
func Cookies(a apitest.Answer) map[string]*http.Cookie {
	set := map[string]*http.Cookie{}
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		set[c.Name] = c
	}
	return set
}

// noOutages tells that every router answers: this platform has none.
func noOutages(
	context.Context, id.Organization, []id.Subscriber,
) (map[id.Subscriber]reportscases.RouterAway, error) {
	return map[id.Subscriber]reportscases.RouterAway{}, nil
}

// noUnheard tells the same of the count.
func noUnheard(context.Context, id.Organization) (int, error) { return 0, nil }

// noDue asks no customer for money.
func noDue(context.Context, subscribersviews.SubscriberRow) (billingcases.Asked, error) {
	return billingcases.Asked{Due: money.Of(0, money.KES)}, nil
}

// owingNothing reads customers, and asks none for money.
func (k *Kit) owingNothing(people subscribersviews.SubscribersQuery) func(
	context.Context, id.Organization, id.Subscriber) (*subscribersviews.SubscriberRow, billingcases.Asked, error) {
	return func(ctx context.Context, org id.Organization, who id.Subscriber) (
		*subscribersviews.SubscriberRow, billingcases.Asked, error,
	) {
		var rows []subscribersviews.SubscriberRow
		of := subscribersviews.WholeOf{Org: org, Subscribers: []id.Subscriber{who}, At: k.Clock.Now()}
		err := people.Views.Tenant(ctx, org, func(r *postgres.Reads) { people.Whole(r, &rows, of) })
		if err != nil || len(rows) == 0 {
			return nil, billingcases.Asked{}, err
		}
		return &rows[0], billingcases.Asked{Due: money.Of(0, money.KES)}, nil
	}
}

// writeOffs gives up debts, in tests that register accounts.
func (k *Kit) writeOffs() billingcases.WriteOffs { return billingcases.WriteOffs{Bus: k.Core.Bus} }

// customers are the cases of subscribers.
func (k *Kit) customers() subscriberscases.Subscribers {
	return subscriberscases.Subscribers{Bus: k.Core.Bus, Limiter: k.Vault.Limits}
}

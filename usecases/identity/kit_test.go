package identitycases_test

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/apikeys"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// The password that an administrator sets for a new user, and the one that the user chooses.
const (
	temporary secrets.Text = "for the first day"
	chosen    secrets.Text = "correct horse"
)

// kit has the use cases on a real log, with real read models and a real vault, and two organizations, each with an
// administrator. Time moves only when a test moves clock.
type kit struct {
	*coretest.Kit
	identitycases.Cases
	t         *testing.T
	clock     *clock.Manual
	users     identityviews.UsersQuery
	directory *identityviews.Directory
	open      map[string]bool // invoice prefixes with open invoices

	acme, other id.Organization
	ada, olga   id.User // their administrators, with the chosen password
}

// newKit starts a kit with cheap hashes; it stops with the test.
func newKit(t *testing.T) *kit { return newKitOf(t, vault.Argon2{}) }

// newKitOf is newKit with another cost of a hash; the zero cost is cheap.
func newKitOf(t *testing.T, cost vault.Argon2) *kit {
	t.Helper()
	k := &kit{
		t: t, clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)),
		directory: identityviews.NewDirectory(), open: map[string]bool{},
	}
	k.Kit = coretest.NewWithVault(t, vault.Config{Clock: k.clock, Argon2: cost},
		identityviews.Organizations{}, identityviews.Users{})
	bus.Register(k.Bus, identity.Organizations())
	bus.Register(k.Bus, identity.Users())
	bus.Register(k.Bus, identity.Sessions())
	bus.Register(k.Bus, identity.APIKeys())
	bus.Register(k.Bus, messaging.AllSettings())
	k.users = identityviews.UsersQuery{Views: k.Show(t)}
	shows := k.Memory(t, k.directory)
	coretest.Start(t, "directory", shows)
	access := identityviews.NewAccess(shows)
	access.Open()
	k.Cases = identitycases.New(identitycases.Config{
		Access: access, Bus: k.Bus, Vault: k.Vault, Users: k.users, Directory: k.directory, DirectoryShows: shows,
		Head: k.Store.Head, PrefixOpen: func(_ context.Context, _ id.Organization, prefix string) (bool, error) {
			return k.open[prefix], nil
		},
		KeyForm: apikeys.Development, Locks: k.DB, Clock: k.clock, Logger: storetest.Quiet(),
	})
	k.acme, k.ada = k.organization("acme", "ada@acme.test")
	k.other, k.olga = k.organization("other", "olga@other.test")
	return k
}

// must ends the test when err is not nil.
func (k *kit) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

// fails reports an error unless the failure has the code.
func (k *kit) fails(err error, code string) {
	k.t.Helper()
	if failure.CodeOf(err) != code {
		k.t.Errorf("got %v, want %s", err, code)
	}
}

// organization makes an organization whose administrator has chosen a password.
func (k *kit) organization(slug, email string) (id.Organization, id.User) {
	k.t.Helper()
	made, err := k.Organizations.Create(k.t.Context(), asked(id.Organization{}, slug), newOrganization(slug, email))
	k.must(err)
	user := k.known(email, made.Done)
	coretest.SetPassword(k.t, k.Vault, user, chosen)
	done := k.Run(k.t, asked(made.ID, "chosen").Meta, commands.RecordPasswordChange{UserID: user})
	k.known(email, done)
	return made.ID, user
}

// known is the oldest user of an address, once the read model shows a write; an unknown address ends the test.
func (k *kit) known(email string, done bus.Result) id.User {
	k.t.Helper()
	k.shown(done)
	rows, err := k.users.OfAddress(k.t.Context(), email)
	k.must(err)
	if len(rows) == 0 {
		k.t.Fatalf("nobody has the address %s", email)
	}
	return rows[0].ID
}

// shown waits until the read model of users shows a write.
func (k *kit) shown(done bus.Result) {
	k.t.Helper()
	coretest.WaitFor(k.t, k.users.Views, done.Position, identityviews.UsersName)
}

// member is a user's membership as the log has it. Users belong to no organization, so the load is unchecked.
func (k *kit) member(user id.User, org id.Organization) (identity.Membership, bool) {
	k.t.Helper()
	state, _, err := bus.LoadUnchecked[identity.User](k.t.Context(), k.Bus, user)
	k.must(err)
	m, ok := state.Memberships[org]
	return m, ok
}

// has reports whether a password is the user's.
func (k *kit) has(user id.User, password secrets.Text) bool {
	k.t.Helper()
	right, err := k.Vault.Passwords.Verify(k.t.Context(), id.Organization{}, user, password)
	k.must(err)
	return right.Right()
}

// signIn opens a session with the chosen password.
func (k *kit) signIn(org id.Organization, email string) identitycases.SignedIn {
	k.t.Helper()
	return k.signInWith(org, email, chosen)
}

// signInWith opens a session with a password.
func (k *kit) signInWith(org id.Organization, email string, password secrets.Text) identitycases.SignedIn {
	k.t.Helper()
	in, err := k.SignIns.SignIn(k.t.Context(), public(org), credentials(email, password))
	k.must(err)
	return in
}

// stands reports whether requests of a session pass at an organization at this moment.
func (k *kit) stands(in identitycases.SignedIn, org id.Organization) bool {
	_, known := k.directory.Standing(in.User.ID, org, in.Session.ID)
	return known
}

// asked is a request of an administrator under a key; of a super_admin for the zero organization. The same key makes a
// repeat.
func asked(org id.Organization, key string) usecases.Asked {
	role := events.RoleAdmin
	if org.IsZero() {
		role = events.RoleSuperAdmin
	}
	return usecases.Asked{Keyed: true, Meta: commands.Meta{
		CommandID: id.Derive[id.Command]("test", org.String(), key), OrgID: org,
		Actor: events.Actor{
			Kind: events.ActorUser, ID: id.Derive[id.User]("test", "asks").String(), Role: string(role),
		},
	}}
}

// public is a request without a sign-in.
func public(org id.Organization) usecases.Asked {
	return usecases.Asked{Meta: commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorPublic},
	}}
}

// credentials makes the input of a sign-in.
func credentials(email string, password secrets.Text) identitycases.Credentials {
	return identitycases.Credentials{Email: personal.Of(email), Password: password}
}

// newcomer is a person to be added, with the role support and the temporary password.
func newcomer(email string) identitycases.NewMember {
	return identitycases.NewMember{
		Email: personal.Of(email), Phone: personal.Of("0712 345 678"), FirstName: personal.Of(" Nia "),
		Role: events.RoleSupport, TemporaryPassword: temporary,
	}
}

// newOrganization is an organization to be made, with an administrator of that address.
func newOrganization(slug, email string) identitycases.NewOrganization {
	return identitycases.NewOrganization{Slug: slug, Name: "The " + slug, Admin: newcomer(email)}
}

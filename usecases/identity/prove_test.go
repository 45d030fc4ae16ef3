package identitycases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// proof is the proof of an address whose owner chooses the password "another".
func proof(email string) identitycases.Proof {
	return identitycases.Proof{Email: personal.Of(email), Password: another}
}

func TestProve_JoinsTheUsersOfOneAddressUnderThePasswordChosenThen(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.clock.Advance(time.Hour) // the user of Other is the older one
	mine := k.added(k.acme, "olga@other.test", events.RoleSupport)
	old := k.signIn(k.acme, "olga@other.test")
	person, err := k.Persons.Prove(t.Context(), public(id.Organization{}), proof(" Olga@other.test"))
	k.must(err)
	if person != k.olga {
		t.Errorf("the oldest user stands for the person, not %s", person)
	}
	if k.stands(old, k.acme) {
		t.Error("a session of before the proof goes on")
	}
	if k.has(mine, chosen) || k.has(k.olga, chosen) || !k.has(k.olga, another) {
		t.Error("a password of before the proof counts")
	}
	for org, user := range map[id.Organization]id.User{k.acme: mine, k.other: k.olga} {
		in := k.signInWith(org, "olga@other.test", another)
		if in.User.ID != user || in.User.Person != k.olga || !k.stands(in, org) {
			t.Errorf("at %s %+v", org, in.User)
		}
	}
	// An organization that registers the address now learns nothing, and its password opens its own host only.
	third := k.third()
	later, done, err := k.Staff.Add(t.Context(), asked(third, "late"), newcomer("olga@other.test"))
	k.must(err)
	k.shown(done)
	k.signInWith(third, "olga@other.test", temporary)
	_, err = k.SignIns.SignIn(t.Context(), public(k.other), credentials("olga@other.test", temporary))
	k.fails(err, "wrong_credentials")
	_, err = k.Persons.Prove(t.Context(), public(id.Organization{}), proof("olga@other.test"))
	k.must(err)
	if in := k.signInWith(third, "olga@other.test", another); in.User.ID != later || k.has(later, temporary) {
		t.Errorf("the next proof joins %+v", in.User)
	}
}

// third is a further organization.
func (k *kit) third() id.Organization {
	k.t.Helper()
	made, err := k.Organizations.Create(k.t.Context(), asked(id.Organization{}, "third"),
		newOrganization("third", "boss@third.test"))
	k.must(err)
	k.shown(made.Done)
	return made.ID
}

func TestProve_TwoAtOnceMakeOnePerson(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.clock.Advance(time.Hour)
	k.added(k.acme, "olga@other.test", events.RoleSupport)
	for _, err := range coretest.AtOnce(2, func(int) error {
		_, err := k.Persons.Prove(t.Context(), public(id.Organization{}), proof("olga@other.test"))
		return err
	}) {
		k.must(err)
	}
	for _, org := range []id.Organization{k.acme, k.other} {
		if in := k.signInWith(org, "olga@other.test", another); in.User.Person != k.olga {
			t.Errorf("at %s %+v", org, in.User)
		}
	}
}

func TestProve_Refusals(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.root()
	for email, code := range map[string]string{
		"nobody@other.test": "user_not_found", "root@platform.test": "user_not_found",
	} {
		_, err := k.Persons.Prove(t.Context(), public(id.Organization{}), proof(email))
		k.fails(err, code)
	}
	_, err := k.Persons.Prove(t.Context(), public(id.Organization{}), identitycases.Proof{
		Email: personal.Of("olga@other.test"), Password: "short",
	})
	k.fails(err, "invalid_input")
	k.signIn(k.other, "olga@other.test")
	k.signIn(id.Organization{}, "root@platform.test")
}

// older records a user as versions of before addresses were kept apart did: a member of home, and an accepted member of
// another organization.
func (k *kit) older(email string, home, second id.Organization) id.User {
	k.t.Helper()
	user := id.New[id.User]()
	meta := events.Metadata{
		CommandID: id.New[id.Command](), AggregateID: id.Any(user), Action: "identity.RegisterUser", OrgID: home,
		Actor: events.Actor{Kind: events.ActorOperator, ID: "test"}, At: k.clock.Now(),
	}
	granted := func(org id.Organization, pending bool) events.MembershipGranted {
		return events.MembershipGranted{
			UserID: user, OrgID: org, Role: events.RoleAdmin, Pending: pending, Email: personal.Of(email),
			FirstName: personal.Of("Old"), At: k.clock.Now(),
		}
	}
	var list []eventstore.New
	for _, e := range []events.Event{
		events.UserRegistered{
			UserID: user, Email: personal.Of(email), FirstName: personal.Of("Old"), RegisteredAt: k.clock.Now(),
		},
		granted(home, false), granted(second, true), events.MembershipAccepted{UserID: user, OrgID: second},
	} {
		meta.EventID = id.New[id.Event]()
		list = append(list, eventstore.New{Event: e, Meta: meta})
	}
	done, err := k.Store.Append(k.t.Context(), commands.UserCategory+"-"+user.String(), eventstore.NoStream, list)
	k.must(err)
	k.shown(bus.Result{Position: done.Position})
	coretest.SetPassword(k.t, k.Vault, user, chosen)
	return user
}

func TestUpgrade_AnOlderUserEntersAtTheRegisteringOrganizationOnly(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	user := k.older("old@acme.test", k.acme, k.other)
	for range 2 { // a repeat does nothing more
		k.must(k.Upgrade.Run(t.Context()))
	}
	state, revision, err := bus.LoadUnchecked[identity.User](t.Context(), k.Bus, user)
	if err != nil || !state.Apart || revision != 4 {
		t.Errorf("%+v at %d, %v", state, revision, err)
	}
	if in := k.signIn(k.acme, "old@acme.test"); in.User.ID != user || k.stands(in, k.other) {
		t.Errorf("at home %+v", in)
	}
	_, err = k.SignIns.SignIn(t.Context(), public(k.other), credentials("old@acme.test", chosen))
	k.fails(err, "wrong_credentials") // ADR 0016: the password was perhaps chosen by Acme's administrator
	_, _, err = k.Staff.Add(t.Context(), asked(k.acme, "again"), newcomer("old@acme.test"))
	k.fails(err, "already_member")
	own := k.added(k.other, "old@acme.test", events.RoleSupport) // Other gives the person a user of its own
	if in := k.signIn(k.other, "old@acme.test"); in.User.ID != own {
		t.Errorf("at Other %+v", in)
	}
	_, err = k.Persons.Prove(t.Context(), public(id.Organization{}), proof("old@acme.test"))
	k.must(err)
	if in := k.signInWith(k.other, "old@acme.test", another); in.User.ID != own || in.User.Person != user {
		t.Errorf("after the proof %+v", in)
	}
}

func TestUpgrade_TheProofOpensAnOlderMembership(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	user := k.older("old@acme.test", k.acme, k.other)
	k.must(k.Upgrade.Run(t.Context()))
	_, err := k.Persons.Prove(t.Context(), public(id.Organization{}), proof("old@acme.test"))
	k.must(err)
	if in := k.signInWith(k.other, "old@acme.test", another); in.User.ID != user || in.Role != events.RoleAdmin ||
		!k.stands(in, k.other) {
		t.Errorf("%+v", in)
	}
}

func TestUpgrade_OneUserWhoCannotBeUpgradedLocksNobodyElseOut(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	nia := k.added(k.acme, "nia@acme.test", events.RoleSupport)
	twin := k.older("nia@acme.test", k.acme, k.other) // registered by a program of before that ran during the update
	fine := k.older("old@acme.test", k.acme, k.other)
	for range 2 { // at the next start the same
		k.must(k.Upgrade.Run(t.Context()))
	}
	if in := k.signIn(k.acme, "nia@acme.test"); in.User.ID != nia || !k.stands(in, k.acme) {
		t.Errorf("%+v", in)
	}
	if in := k.signIn(k.acme, "old@acme.test"); in.User.ID != fine || !k.stands(in, k.acme) {
		t.Errorf("%+v", in)
	}
	if _, known := k.directory.Standing(twin, k.acme, id.Session{}); known {
		t.Error("who could not be upgraded has access")
	}
}

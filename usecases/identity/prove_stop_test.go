package identitycases_test

import (
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// oneAddress is an address with two users: an older one of Acme with a membership at Other, and one of Other's own.
// Both have a session and the password "chosen", which an administrator of each organization can know.
type oneAddress struct {
	*kit
	person, own id.User
	old         []identitycases.SignedIn // at Acme and at Other
}

// address is that of a oneAddress.
const address = "old@acme.test"

// newOneAddress makes the users and their sessions.
func newOneAddress(t *testing.T) *oneAddress {
	t.Helper()
	k := newKit(t)
	a := &oneAddress{kit: k, person: k.older(address, k.acme, k.other)}
	k.must(k.Upgrade.Run(t.Context()))
	a.own = k.added(k.other, address, events.RoleSupport)
	a.old = []identitycases.SignedIn{k.signIn(k.acme, address), k.signIn(k.other, address)}
	return a
}

// proving is the request that is stopped and repeated.
func proving() usecases.Asked { return asked(id.Organization{}, "proof") }

// enters reports at which of the two hosts a password opens a session.
func (a *oneAddress) enters(password secrets.Text) (list []identitycases.SignedIn) {
	a.t.Helper()
	for _, org := range []id.Organization{a.acme, a.other} {
		in, err := a.SignIns.SignIn(a.t.Context(), public(org), credentials(address, password))
		if err == nil {
			list = append(list, in)
			continue
		}
		a.fails(err, "wrong_credentials")
	}
	return list
}

// ended reports an error for each session of before the proof that goes on.
func (a *oneAddress) ended() {
	a.t.Helper()
	for _, in := range a.old {
		if a.stands(in, in.Session.OrgID) {
			a.t.Error("a session of before the proof goes on")
		}
	}
	a.notRenewed()
}

// notRenewed reports an error for each session of before the proof that is renewed.
func (a *oneAddress) notRenewed() {
	a.t.Helper()
	for _, in := range a.old {
		if _, err := a.SignIns.Renew(a.t.Context(), public(in.Session.OrgID), in.Refresh); err == nil {
			a.t.Error("a session of before the proof is renewed")
		}
	}
}

func TestProve_AStopBehindAnyStepOpensNothingAndARepeatDoesTheRest(t *testing.T) {
	t.Parallel()
	const steps = 7 // void, sessions, two users, the password's event, the password, sessions once more
	for n := 1; n <= steps; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			a := newOneAddress(t)
			list, err := a.Persons.Steps(t.Context(), proving(), proof(address))
			a.must(err)
			if len(list) != steps {
				t.Fatalf("%d steps", len(list))
			}
			for _, step := range list[:n] {
				a.must(step(t.Context()))
			}
			if len(a.enters(chosen)) > 0 {
				t.Error("a password of before the proof opens something")
			}
			if n > 1 {
				a.ended()
			}
			a.notRenewed()
			_, _, err = a.Staff.Add(t.Context(), asked(a.other, "add "+address), a.registration())
			a.must(err) // Other's administrator repeats the registration
			got, err := a.Persons.Prove(t.Context(), proving(), proof(address))
			a.must(err)
			if got != a.person || len(a.enters(chosen)) > 0 || a.has(a.own, temporary) {
				t.Error("after the repeat a password of before opens something")
			}
			a.ended()
			a.againAfterTheEnd()
		})
	}
}

// registration is the request by which Other registered its user.
func (a *oneAddress) registration() identitycases.NewMember {
	in := newcomer(address)
	in.Role = events.RoleSupport
	return in
}

// againAfterTheEnd repeats the proof once more: sessions and passwords of since then stay.
func (a *oneAddress) againAfterTheEnd() {
	a.t.Helper()
	now := a.enters(another)
	if len(now) != 2 {
		a.t.Fatalf("the chosen password opens %d hosts", len(now))
	}
	const next secrets.Text = "the third good one"
	_, err := a.OwnPassword.Change(a.t.Context(), asked(a.acme, "change"), change(now[0], another, next))
	a.must(err)
	_, err = a.Persons.Prove(a.t.Context(), proving(), proof(address))
	a.must(err)
	if !a.has(a.person, next) || a.has(a.person, another) || !a.stands(now[0], a.acme) {
		a.t.Error("a repeat after the end changes the password or ends a session")
	}
}

func TestProve_AnotherProofDoesTheRestOfOneThatStopped(t *testing.T) {
	t.Parallel()
	a := newOneAddress(t)
	list, err := a.Persons.Steps(t.Context(), proving(), proof(address))
	a.must(err)
	for _, step := range list[:len(list)-2] {
		a.must(step(t.Context()))
	}
	later := proof(address)
	later.Password = "the third good one"
	_, err = a.Persons.Prove(t.Context(), asked(id.Organization{}, "later"), later)
	a.must(err)
	_, err = a.Persons.Prove(t.Context(), proving(), proof(address))
	a.must(err)
	if !a.has(a.person, later.Password) {
		t.Error("a repeat of the earlier proof replaced the password of the later one")
	}
}

func TestProve_ARefusedOneChangesNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.root()
	k.joined(k.acme, "root@platform.test") // somebody else, whose address is the platform's
	in := k.signInWith(k.acme, "root@platform.test", temporary)
	_, err := k.Persons.Prove(t.Context(), public(id.Organization{}), proof("root@platform.test"))
	k.fails(err, "email_taken")
	k.signInWith(k.acme, "root@platform.test", temporary)
	k.signIn(id.Organization{}, "root@platform.test")

	mine := k.added(k.acme, "olga@other.test", events.RoleSupport)
	k.Run(t, asked(id.Organization{}, "elsewhere").Meta, commands.ProveAddress{UserID: mine, PersonID: k.ada})
	olga := k.signIn(k.other, "olga@other.test")
	_, err = k.Persons.Prove(t.Context(), public(id.Organization{}), proof("olga@other.test"))
	k.fails(err, "other_person")
	if !k.stands(in, k.acme) || !k.stands(olga, k.other) || !k.has(mine, chosen) || !k.has(k.olga, chosen) {
		t.Error("a refused proof changed something")
	}
}

// A change of the password that began before a proof must not bring back what counted then.
func TestChangePassword_DoesNotReplaceOneThatAProofStoredMeanwhile(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	proven, err := k.Vault.Passwords.Verify(t.Context(), k.other, k.olga, chosen) // as Change does first
	k.must(err)
	_, err = k.Persons.Prove(t.Context(), public(id.Organization{}), proof("olga@other.test"))
	k.must(err)
	hash, err := k.Vault.Passwords.Hash(t.Context(), k.other, "the third good one")
	k.must(err)
	exchanged, err := k.Vault.Passwords.Exchange(t.Context(), proven, hash, vault.Revocation{})
	if err != nil || exchanged || !k.has(k.olga, another) {
		t.Errorf("exchanged %v, %v", exchanged, err)
	}
}

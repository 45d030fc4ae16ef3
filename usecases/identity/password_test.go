package identitycases_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// another is the next password that a user chooses in these tests.
const another secrets.Text = "another good one"

// change is a request of a session's user for another password.
func change(in identitycases.SignedIn, current, next secrets.Text) identitycases.NewPassword {
	return identitycases.NewPassword{UserID: in.User.ID, Session: in.Session.ID, Current: current, New: next}
}

func TestChangePassword_EndsEveryOtherSession(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in, second := k.signIn(k.other, "olga@other.test"), k.signIn(k.other, "olga@other.test")
	_, err := k.OwnPassword.Change(t.Context(), asked(k.other, "change"), change(in, chosen, another))
	k.must(err)
	if !k.has(k.olga, another) || k.has(k.olga, chosen) {
		t.Error("the password was not replaced")
	}
	if !k.stands(in, k.other) || k.stands(second, k.other) {
		t.Errorf("this one %v, the other %v", k.stands(in, k.other), k.stands(second, k.other))
	}
	_, err = k.SignIns.Renew(t.Context(), public(k.other), second.Refresh)
	k.fails(err, "refresh_token_invalid")
	_, err = k.SignIns.Renew(t.Context(), public(k.other), in.Refresh)
	k.must(err)
	// after a lost answer the new password is valid: a repeat finds the work done, another request proves the old one
	_, err = k.OwnPassword.Change(t.Context(), asked(k.other, "change"), change(in, chosen, another))
	k.must(err)
	_, err = k.OwnPassword.Change(t.Context(), asked(k.other, "change once more"), change(in, chosen, another))
	k.fails(err, "wrong_password")
	_, err = k.OwnPassword.Change(t.Context(), asked(k.other, "change"), change(in, chosen, "a guess at random"))
	k.fails(err, "wrong_password")
	if !k.has(k.olga, another) {
		t.Error("a repeat changed the password")
	}
}

func TestChangePassword_OfAProvenPersonCountsAtEveryHost(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.added(k.acme, "olga@other.test", events.RoleSupport)
	person, err := k.Persons.Prove(t.Context(), public(id.Organization{}), proof("olga@other.test"))
	k.must(err)
	here, there := k.signInWith(k.acme, "olga@other.test", another), k.signInWith(k.other, "olga@other.test", another)
	_, err = k.OwnPassword.Change(t.Context(), asked(k.acme, "change"), change(here, another, chosen))
	k.must(err)
	if !k.has(person, chosen) || !k.stands(here, k.acme) || k.stands(there, k.other) {
		t.Errorf("here %v, there %v", k.stands(here, k.acme), k.stands(there, k.other))
	}
	k.signIn(k.other, "olga@other.test")
}

func TestChangePassword_CommonOnesAreRefused(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := k.signIn(k.acme, "ada@acme.test")
	for _, common := range []secrets.Text{
		"123456789", "nine char", "password", "Password123!", "P@ssword2026", "passwordpassword", "1234567890",
		"0987654321", "aaaaaaaaaaaa", "abcabcabcabc", "qwertyuiop", "Qwertyuiop1", "abcdefghijkl", "iloveyou2024",
		"L1verp00l2020", "mikrotik123", "!!!!!!!!!!!!", "Manchester United",
	} {
		_, err := k.OwnPassword.Change(t.Context(), asked(k.acme, "common"), change(in, chosen, common))
		if failure.CodeOf(err) != "invalid_input" {
			t.Errorf("%q is taken: %v", common.Reveal(), err)
		}
	}
	good := chosen
	for _, next := range []secrets.Text{
		"ten chars!", "tembo na simba", "temporary-password-1", "Zq8-rk2Lm9xT", "пароль для дома", "lastmile on a hill",
	} {
		_, err := k.OwnPassword.Change(t.Context(), asked(k.acme, next.Reveal()), change(in, good, next))
		if err != nil {
			t.Errorf("%q is refused: %v", next.Reveal(), err)
		}
		good = next
	}
}

func TestChangePassword_ATemporaryOneEndsAtOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	_, done, err := k.Staff.Add(t.Context(), asked(k.acme, "nia"), newcomer("nia@acme.test"))
	k.must(err)
	k.shown(done)
	in, err := k.SignIns.SignIn(t.Context(), public(k.acme), credentials("nia@acme.test", temporary))
	k.must(err)
	standing, _ := k.directory.Standing(in.User.ID, k.acme, in.Session.ID)
	if !standing.MustChangePassword {
		t.Fatal("a temporary password opens everything")
	}
	_, err = k.OwnPassword.Change(t.Context(), asked(k.acme, "change"), change(in, temporary, chosen))
	k.must(err)
	if standing, _ = k.directory.Standing(in.User.ID, k.acme, in.Session.ID); standing.MustChangePassword {
		t.Error("the directory still asks for a password of one's own")
	}
}

func TestChangePassword_Refusals(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := k.signIn(k.acme, "ada@acme.test")
	for _, bad := range []identitycases.NewPassword{
		change(in, chosen, "short"), change(in, chosen, chosen), change(in, chosen, ""),
	} {
		_, err := k.OwnPassword.Change(t.Context(), asked(k.acme, "bad"), bad)
		k.fails(err, "invalid_input")
	}
	unknown := change(in, chosen, another)
	unknown.UserID = id.New[id.User]()
	_, err := k.OwnPassword.Change(t.Context(), asked(k.acme, "unknown"), unknown)
	k.fails(err, "unauthenticated")
	for range 5 {
		_, err = k.OwnPassword.Change(t.Context(), asked(k.acme, "guess"), change(in, "a guess", another))
		k.fails(err, "wrong_password")
	}
	_, err = k.OwnPassword.Change(t.Context(), asked(k.acme, "right"), change(in, chosen, another))
	k.fails(err, "account_locked") // a stolen session cannot be used to guess
	if !k.has(k.ada, chosen) || !k.stands(in, k.acme) {
		t.Error("a refused change changed something")
	}
}

package identitycases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// given is the password that an administrator gives somebody who has lost the own one.
const given secrets.Text = "until you choose one"

func TestGivePassword_OpensNothingButTheWayToAnOwnPassword(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	nia := k.added(k.acme, "nia@acme.test", events.RoleSupport)
	before := k.signIn(k.acme, "nia@acme.test")
	for range 10 { // tried until the account is locked, as those do who have forgotten the password
		_, _ = k.SignIns.SignIn(t.Context(), public(k.acme), credentials("nia@acme.test", "was it this?"))
	}
	give := commands.GiveTemporaryPassword{UserID: nia, OrgID: k.acme, By: k.ada}
	done, err := k.Staff.GivePassword(t.Context(), asked(k.acme, "give"), give, given)
	k.must(err)
	k.shown(done)
	if k.stands(before, k.acme) {
		t.Error("a session of before passes")
	}
	_, err = k.SignIns.SignIn(t.Context(), public(k.acme), credentials("nia@acme.test", chosen))
	k.fails(err, "wrong_credentials")
	now, err := k.SignIns.SignIn(t.Context(), public(k.acme), credentials("nia@acme.test", given))
	k.must(err)
	if !now.User.MustChangePassword {
		t.Error("the temporary password may be kept")
	}
	_, err = k.OwnPassword.Change(t.Context(), public(k.acme), identitycases.NewPassword{
		UserID: nia, Session: now.Session.ID, Current: given, New: chosen,
	})
	k.must(err)
	// The first request again, whose answer was lost: the user keeps the own password, and the session.
	_, err = k.Staff.GivePassword(t.Context(), asked(k.acme, "give"), give, given)
	k.fails(err, "password_chosen") // nobody is told a password that does not work
	if !k.stands(now, k.acme) {
		t.Error("a repeat ended the session of the own password")
	}
	_, err = k.SignIns.SignIn(t.Context(), public(k.acme), credentials("nia@acme.test", chosen))
	k.must(err)
}

// A stranger with the address alone, or whoever may not enter, hears the same before and after.
func TestSignIn_ATemporaryPasswordWorksForThirtyDays(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	nia, ben := k.joined(k.acme, "nia@acme.test"), k.joined(k.acme, "ben@acme.test")
	tries := func(email string, password secrets.Text, code string) {
		t.Helper()
		_, err := k.SignIns.SignIn(t.Context(), public(k.acme), credentials(email, password))
		k.fails(err, code)
	}
	k.clock.Advance(30*24*time.Hour - time.Second)
	before := k.signInWith(k.acme, "nia@acme.test", temporary)
	k.clock.Advance(time.Second)
	for range vault.LockoutTries + 1 { // the right password is no guess
		tries("nia@acme.test", temporary, "temporary_password_expired")
	}
	for _, email := range []string{"nia@acme.test", "nobody@acme.test"} {
		tries(email, "wrong", "wrong_credentials")
	}
	_, err := k.OwnPassword.Change(t.Context(), public(k.acme), identitycases.NewPassword{
		UserID: nia, Session: before.Session.ID, Current: temporary, New: chosen,
	})
	k.fails(err, "temporary_password_expired")
	disable := commands.DisableMember{UserID: ben, OrgID: k.acme, By: k.ada}
	_, err = k.Staff.Disable(t.Context(), asked(k.acme, "disable"), disable)
	k.must(err)
	tries("ben@acme.test", temporary, "wrong_credentials")
	give := commands.GiveTemporaryPassword{UserID: nia, OrgID: k.acme, By: k.ada}
	_, err = k.Staff.GivePassword(t.Context(), asked(k.acme, "give"), give, given)
	k.must(err)
	k.signInWith(k.acme, "nia@acme.test", given)
	k.signIn(k.acme, "ada@acme.test") // whoever has chosen a password keeps it
}

func TestGivePassword_TouchesNobodyElses(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	_, err := k.Persons.Prove(t.Context(), public(id.Organization{}), proof("olga@other.test"))
	k.must(err)
	nia := k.added(k.acme, "nia@acme.test", events.RoleSupport)
	for code, give := range map[string]commands.GiveTemporaryPassword{
		"own_password":       {UserID: k.ada, OrgID: k.acme, By: k.ada},
		"user_not_found":     {UserID: nia, OrgID: k.other, By: k.olga},
		"password_of_person": {UserID: k.olga, OrgID: k.other, By: id.New[id.User]()},
	} {
		_, err := k.Staff.GivePassword(t.Context(), asked(give.OrgID, code), give, given)
		k.fails(err, code)
	}
	_, err = k.Staff.GivePassword(t.Context(), asked(k.acme, "short"),
		commands.GiveTemporaryPassword{UserID: nia, OrgID: k.acme, By: k.ada}, "short")
	k.fails(err, "invalid_input")
	_, err = k.SignIns.SignIn(t.Context(), public(k.acme), credentials("nia@acme.test", chosen))
	k.must(err)
}

// TestGivePassword_DoesNotReplaceWhatAProofStoredMeanwhile: an administrator's request that saw the log before the
// proof was recorded, and comes to store its password after the owner has chosen one.
func TestGivePassword_DoesNotReplaceWhatAProofStoredMeanwhile(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	nia := k.added(k.acme, "nia@acme.test", events.RoleSupport)
	passwords := k.Staff.Registrations.Passwords
	hash, err := passwords.Hash(t.Context(), k.acme, given)
	k.must(err)
	held, err := passwords.Held(t.Context(), nia)
	k.must(err)
	_, err = k.Persons.Prove(t.Context(), public(id.Organization{}), proof("nia@acme.test"))
	k.must(err)
	end := vault.Revocation{Users: []id.User{nia}, Reason: "password_changed"}
	if stored, err := passwords.ReplaceHeld(t.Context(), held, hash, end); stored || err != nil {
		t.Errorf("the temporary password is stored: %v, %v", stored, err)
	}
	_, err = k.SignIns.SignIn(t.Context(), public(k.acme), credentials("nia@acme.test", given))
	k.fails(err, "wrong_credentials")
	if held, err = passwords.Held(t.Context(), nia); err != nil {
		t.Fatal(err)
	}
	if stored, err := passwords.ReplaceHeld(t.Context(), held, hash, end); !stored || err != nil {
		t.Errorf("what is held now is not replaced: %v, %v", stored, err)
	}
}

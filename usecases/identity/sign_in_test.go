package identitycases_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// root makes a super_admin with the chosen password.
func (k *kit) root() {
	k.t.Helper()
	done, err := k.Staff.Registrations.AddSuperAdmin(k.t.Context(), asked(id.Organization{}, "root"),
		identitycases.SuperAdmin{
			UserID: id.New[id.User](), Email: personal.Of("root@platform.test"), FirstName: personal.Of("Root"),
			Password: chosen,
		})
	k.must(err)
	k.shown(done)
}

// joined adds a person to an organization, with the temporary password.
func (k *kit) joined(org id.Organization, email string) id.User {
	k.t.Helper()
	user, done, err := k.Staff.Add(k.t.Context(), asked(org, email), newcomer(email))
	k.must(err)
	k.shown(done)
	return user
}

// session is a session as the log has it.
func (k *kit) session(org id.Organization, session id.Session) identity.Session {
	k.t.Helper()
	state, _, err := bus.LoadOwned[identity.Session](k.t.Context(), k.Bus, org, session)
	k.must(err)
	return state
}

func TestSignIn_WhoEntersWhere(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.root()
	platform := id.Organization{}
	for _, c := range []struct {
		org      id.Organization
		email    string
		password secrets.Text
		role     events.Role
		code     string
	}{
		{k.acme, " Ada@ACME.test ", chosen, events.RoleAdmin, ""},
		{platform, "root@platform.test", chosen, events.RoleSuperAdmin, ""},
		{platform, "ada@acme.test", chosen, "", "super_admin_only"},
		{platform, "ada@acme.test", "wrong", "", "wrong_credentials"},
		{k.acme, "root@platform.test", chosen, "", "wrong_credentials"},
		{k.acme, "olga@other.test", chosen, "", "wrong_credentials"},
		{k.acme, "ada@acme.test", "wrong", "", "wrong_credentials"},
		{k.acme, "nobody@acme.test", chosen, "", "wrong_credentials"},
		{id.New[id.Organization](), "ada@acme.test", chosen, "", "wrong_credentials"},
	} {
		in, err := k.SignIns.SignIn(t.Context(), public(c.org), credentials(c.email, c.password))
		k.fails(err, c.code)
		if in.Role != c.role || k.stands(in, c.org) != (c.code == "") {
			t.Errorf("%s: role %q, stands %v", c.email, in.Role, k.stands(in, c.org))
		}
	}
	in := k.signIn(k.acme, "ada@acme.test")
	if s := k.session(k.acme, in.Session.ID); s.User != k.ada || s.Ended {
		t.Errorf("recorded %+v", s)
	}
}

func TestSignIn_FiveWrongPasswordsLockAnyAddress(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for _, email := range []string{"ada@acme.test", "nobody@acme.test", "olga@other.test"} {
		for range 5 {
			_, err := k.SignIns.SignIn(t.Context(), public(k.acme), credentials(email, "wrong"))
			k.fails(err, "wrong_credentials")
		}
		_, err := k.SignIns.SignIn(t.Context(), public(k.acme), credentials(email, chosen))
		k.fails(err, "account_locked")
	}
	k.clock.Advance(vault.LockoutTime + time.Second)
	k.signIn(k.acme, "ada@acme.test")
	for range 6 { // a right password at the wrong host does not count
		_, err := k.SignIns.SignIn(t.Context(), public(id.Organization{}), credentials("ada@acme.test", chosen))
		k.fails(err, "super_admin_only")
	}
	for range 5 { // but a stranger's counts like a wrong one
		_, err := k.SignIns.SignIn(t.Context(), public(k.acme), credentials("olga@other.test", chosen))
		k.fails(err, "wrong_credentials")
	}
	_, err := k.SignIns.SignIn(t.Context(), public(k.acme), credentials("olga@other.test", chosen))
	k.fails(err, "account_locked")
}

// TestSignIn_AnOutageLocksNobodyOut: a try whose password nobody has looked at is no wrong one.
func TestSignIn_AnOutageLocksNobodyOut(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	table := k.DB.Namespace.Schema("vault") + ".passwords"
	for _, gone := range []bool{true, false} {
		signIns, sql := k.SignIns, "alter table "+table+" rename to gone"
		if !gone {
			sql = "alter table " + k.DB.Namespace.Schema("vault") + ".gone rename to passwords"
			signIns.Head = func(context.Context) (uint64, error) { return 0, errors.New("the log is away") }
		}
		if _, err := k.DB.Owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		for range 6 {
			_, err := signIns.SignIn(t.Context(), public(k.acme), credentials("ada@acme.test", chosen))
			if err == nil || failure.KindOf(err) == failure.Unauthenticated {
				t.Fatalf("passwords are gone %v: %v", gone, err)
			}
		}
	}
	k.signIn(k.acme, "ada@acme.test")
}

func TestSignIn_AtOneHostSaysNothingAboutAnother(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.added(k.acme, "olga@other.test", events.RoleSupport)
	for range 5 {
		_, err := k.SignIns.SignIn(t.Context(), public(k.other), credentials("olga@other.test", "wrong"))
		k.fails(err, "wrong_credentials")
	}
	k.signIn(k.acme, "olga@other.test") // it is another user, whose tries are counted apart
	_, err := k.SignIns.SignIn(t.Context(), public(k.other), credentials("olga@other.test", chosen))
	k.fails(err, "account_locked")
}

func TestSignIn_AtTheRootHostEveryRightPasswordIsToldToGoHome(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.root()
	_, done, err := k.Staff.Add(t.Context(), asked(k.acme, "olga"), newcomer("olga@other.test"))
	k.must(err)
	k.shown(done)
	_, done, err = k.Staff.Add(t.Context(), asked(k.acme, "root"), newcomer("root@platform.test"))
	k.must(err)
	k.shown(done)
	for _, c := range []struct {
		email    string
		password secrets.Text
		code     string
	}{
		{"olga@other.test", chosen, "super_admin_only"}, {"olga@other.test", temporary, "super_admin_only"},
		{"olga@other.test", "neither", "wrong_credentials"}, {"root@platform.test", temporary, "wrong_credentials"},
		{"root@platform.test", chosen, ""},
	} {
		_, err := k.SignIns.SignIn(t.Context(), public(id.Organization{}), credentials(c.email, c.password))
		k.fails(err, c.code)
	}
}

// The administrator of an organization registers the address of the platform's administrator, or of anybody else, with
// a password that is known then.
func TestSignIn_AnotherRecordsPasswordDoesNotResetTheGuessesAtTheRootHost(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.root()
	k.joined(k.acme, "root@platform.test")
	k.joined(k.acme, "olga@other.test")
	for email, own := range map[string]string{
		"root@platform.test": "wrong_credentials", "olga@other.test": "super_admin_only",
	} {
		for range 4 {
			_, err := k.SignIns.SignIn(t.Context(), public(id.Organization{}), credentials(email, "a guess"))
			k.fails(err, "wrong_credentials")
		}
		_, err := k.SignIns.SignIn(t.Context(), public(id.Organization{}), credentials(email, temporary))
		k.fails(err, own)
		_, err = k.SignIns.SignIn(t.Context(), public(id.Organization{}), credentials(email, "a guess"))
		if own == "super_admin_only" { // its own try was taken back
			k.fails(err, "wrong_credentials")
		}
		_, err = k.SignIns.SignIn(t.Context(), public(id.Organization{}), credentials(email, chosen))
		k.fails(err, "account_locked")
	}
}

// The password is replaced between its comparison and the end of the sign-in, which is when the tokens are stored.
func TestSignIn_ASessionDoesNotOutliveAPasswordThatWasReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	schema := k.DB.Namespace.Schema("vault")
	_, err := k.DB.Owner.Exec(t.Context(), `create function `+schema+`.replace() returns trigger language plpgsql as
		$$ begin update `+schema+`.passwords set hash = ''; return new; end $$;
		create trigger replace before insert on `+schema+`.sessions for each row execute function `+schema+`.replace()`)
	k.must(err)
	_, err = k.SignIns.SignIn(t.Context(), public(k.acme), credentials("ada@acme.test", chosen))
	k.fails(err, "wrong_credentials")
	open, err := k.Vault.RefreshTokens.List(t.Context(), k.ada)
	if err != nil || len(open) > 0 {
		t.Errorf("open sessions: %v, %v", open, err)
	}
}

func TestRenew_ATokenIsGoodOnceAndAtItsOwnHost(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in, second := k.signIn(k.acme, "ada@acme.test"), k.signIn(k.acme, "ada@acme.test")
	_, err := k.SignIns.Renew(t.Context(), public(k.other), in.Refresh)
	k.fails(err, "unauthenticated")
	next, err := k.SignIns.Renew(t.Context(), public(k.acme), in.Refresh) // still valid after the wrong host
	k.must(err)
	if next.Session.ID != in.Session.ID || next.Role != events.RoleAdmin || next.Refresh == in.Refresh {
		t.Errorf("%+v", next)
	}
	_, err = k.SignIns.Renew(t.Context(), public(k.acme), in.Refresh)
	k.fails(err, "refresh_token_reused")
	if k.stands(in, k.acme) || !k.session(k.acme, in.Session.ID).Ended {
		t.Error("somebody has a copy of the token, and the session goes on")
	}
	_, err = k.SignIns.Renew(t.Context(), public(k.acme), next.Refresh)
	k.fails(err, "refresh_token_invalid")
	_, err = k.SignIns.Renew(t.Context(), public(k.acme), "made up")
	k.fails(err, "refresh_token_invalid")
	if !k.stands(second, k.acme) {
		t.Error("another session of the same person ended")
	}
}

func TestRenew_ASuperAdminRenewsAtEveryHost(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.root()
	in := k.signIn(id.Organization{}, "root@platform.test")
	next, err := k.SignIns.Renew(t.Context(), public(k.acme), in.Refresh)
	k.must(err)
	if next.Role != events.RoleSuperAdmin || !next.Session.OrgID.IsZero() {
		t.Errorf("%+v", next)
	}
}

func TestRenew_TwoAtOnceWithOneToken(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := k.signIn(k.acme, "ada@acme.test")
	answers := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := k.SignIns.Renew(t.Context(), public(k.acme), in.Refresh)
			answers <- err
		}()
	}
	first, second := <-answers, <-answers
	if first == nil && second == nil || first != nil && second != nil {
		t.Errorf("%v, %v", first, second)
	}
	if k.stands(in, k.acme) {
		t.Error("a token was used twice, and the session goes on")
	}
}

func TestRevoke_EndsAnOwnSessionOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	sessions := k.SignIns.Sessions
	in, olga := k.signIn(k.acme, "ada@acme.test"), k.signIn(k.other, "olga@other.test")
	k.fails(sessions.Revoke(t.Context(), asked(k.acme, "hers"), k.ada, olga.Session.ID), "session_not_found")
	if !k.stands(olga, k.other) {
		t.Fatal("somebody else's session ended")
	}
	k.must(sessions.Revoke(t.Context(), asked(k.acme, "own"), k.ada, in.Session.ID))
	if k.stands(in, k.acme) || !k.session(k.acme, in.Session.ID).Ended {
		t.Error("the session goes on")
	}
	k.fails(sessions.Revoke(t.Context(), asked(k.acme, "own"), k.ada, in.Session.ID), "session_not_found")
}

func TestEnd_ARepeatCompletesIt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in, ask := k.signIn(k.acme, "ada@acme.test"), asked(k.acme, "out")
	session := vault.Session{ID: in.Session.ID, UserID: k.ada, OrgID: k.acme}
	k.revoked(k.ada, in.Session.ID, "logout") // the first try stops here
	for range 2 {
		k.must(k.SignIns.Sessions.End(t.Context(), ask, session, "logout"))
		if k.stands(in, k.acme) || !k.session(k.acme, in.Session.ID).Ended {
			t.Error("the session goes on")
		}
	}
	foreign := vault.Session{ID: in.Session.ID, UserID: k.olga, OrgID: k.other}
	if err := k.SignIns.Sessions.End(t.Context(), asked(k.other, "out"), foreign, "logout"); err == nil {
		t.Error("another organization's session was ended")
	}
}

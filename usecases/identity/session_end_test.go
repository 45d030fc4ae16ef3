package identitycases_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// forgotten is after so long that the directory has forgotten which sessions have ended.
const forgotten = 21 * time.Minute

// revoked revokes a session in the vault, as a request does that stops before the end is recorded.
func (k *kit) revoked(user id.User, session id.Session, reason string) {
	k.t.Helper()
	_, err := k.Vault.RefreshTokens.Revoke(k.t.Context(), vault.Revocation{
		Users: []id.User{user}, Only: session, Reason: reason,
	})
	k.must(err)
}

// withoutSessions runs what must fail while the vault can revoke no session.
func (k *kit) withoutSessions(do func() error) {
	k.t.Helper()
	table := pgx.Identifier{k.DB.Namespace.Schema("vault"), "sessions"}.Sanitize()
	_, err := k.DB.Owner.Exec(k.t.Context(), "alter table "+table+
		" add constraint refused check (revoked_at is null) not valid")
	k.must(err)
	if err := do(); err == nil {
		k.t.Error("the vault revoked no session, and the request succeeded")
	}
	_, err = k.DB.Owner.Exec(k.t.Context(), "alter table "+table+" drop constraint refused")
	k.must(err)
}

// notRenewed reports an error when a session is renewed now, or after the directory has forgotten its end.
func (k *kit) notRenewed(in identitycases.SignedIn) {
	k.t.Helper()
	for range 2 {
		if _, err := k.SignIns.Renew(k.t.Context(), public(in.Session.OrgID), in.Refresh); err == nil {
			k.t.Error("an ended session is renewed")
		}
		k.clock.Advance(forgotten)
		other := k.signIn(k.other, "olga@other.test")
		k.must(k.SignIns.Sessions.End(k.t.Context(), public(k.other), other.Session, "logout")) // the directory sweeps
	}
}

func TestEnd_OfASessionInTheLogAloneStaysItsEndWhenTheDirectoryForgetsIt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := k.signIn(k.acme, "ada@acme.test")
	end := commands.EndSession{SessionID: in.Session.ID, UserID: k.ada, Reason: "logout"}
	k.Run(t, asked(k.acme, "logout").Meta, end) // programs of before began with this
	k.clock.Advance(forgotten)
	other := k.signIn(k.acme, "ada@acme.test")
	k.must(k.SignIns.Sessions.End(t.Context(), asked(k.acme, "another"), other.Session, "logout"))
	if !k.stands(in, k.acme) {
		t.Fatal("the directory has not forgotten the session: nothing is tested")
	}
	_, err := k.SignIns.Renew(t.Context(), public(k.acme), in.Refresh)
	k.fails(err, "refresh_token_invalid")
	k.notRenewed(in)
}

func TestEnd_NothingIsRecordedWhileTheVaultCannotRevoke(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := k.signIn(k.acme, "ada@acme.test")
	end := func() error {
		return k.SignIns.Sessions.End(t.Context(), asked(k.acme, "logout"), in.Session, "logout")
	}
	k.withoutSessions(end)
	if k.session(k.acme, in.Session.ID).Ended {
		t.Error("the log has the end of a session whose tokens are valid")
	}
	k.must(end())
	k.notRenewed(in)
}

func TestRecordEnds_RecordsWhatAStopBehindTheVaultLeft(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in, open := k.signIn(k.acme, "ada@acme.test"), k.signIn(k.acme, "ada@acme.test")
	k.revoked(k.ada, in.Session.ID, "logout")
	// of a log that was restored to an earlier day
	_, err := k.Vault.RefreshTokens.Revoke(t.Context(), vault.Revocation{
		Users: []id.User{k.unknownSession()}, Reason: "logout",
	})
	k.must(err)
	k.must(k.Sessions.RecordEnds(t.Context(), k.clock.Now()))
	if k.session(k.acme, in.Session.ID).Ended {
		t.Error("the request that revoked it a moment ago records the end itself")
	}
	k.clock.Advance(time.Minute)
	for range 2 {
		k.must(k.Sessions.RecordEnds(t.Context(), k.clock.Now()))
	}
	if !k.session(k.acme, in.Session.ID).Ended || k.session(k.acme, open.Session.ID).Ended {
		t.Error("another session than the revoked one ended")
	}
	left, err := k.Vault.RefreshTokens.Unrecorded(t.Context(), k.clock.Now(), 9)
	if err != nil || len(left) != 0 {
		t.Errorf("left are %+v, %v", left, err)
	}
}

// One session whose stream cannot be read must not keep the job trying with ever longer pauses: the ends of the others
// would be recorded later and later.
func TestRecordEnds_OneThatCannotBeRecordedKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	bad, good := k.signIn(k.acme, "ada@acme.test"), k.signIn(k.acme, "ada@acme.test")
	k.revoked(k.ada, bad.Session.ID, "logout")
	k.revoked(k.ada, good.Session.ID, "logout")
	_, err := k.Store.Append(t.Context(), commands.At(commands.SessionCategory, bad.Session.ID).Stream(),
		eventstore.At(0), []eventstore.New{{
			Event: events.ClaimReleased{Kind: "no event of a session"},
			Meta:  events.Metadata{EventID: id.New[id.Event](), CommandID: id.New[id.Command](), At: k.clock.Now()},
		}})
	k.must(err)
	k.clock.Advance(time.Minute)
	for range 2 {
		k.must(k.Sessions.RecordEnds(t.Context(), k.clock.Now()))
	}
	left, err := k.Vault.RefreshTokens.Unrecorded(t.Context(), k.clock.Now(), 9)
	if err != nil || len(left) != 1 || left[0].ID != bad.Session.ID {
		t.Errorf("left are %+v, %v", left, err)
	}
	if !k.session(k.acme, good.Session.ID).Ended {
		t.Error("the end of the other session is not recorded")
	}
}

// unknownSession makes a session that the vault knows and the log does not, and gives its user.
func (k *kit) unknownSession() id.User {
	k.t.Helper()
	s := vault.Session{ID: id.New[id.Session](), UserID: id.New[id.User](), OrgID: k.acme}
	_, _, err := k.Vault.RefreshTokens.Issue(k.t.Context(), s)
	k.must(err)
	return s.UserID
}

func TestRevoke_ARepeatRecordsTheEndThatAStopLeft(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := k.signIn(k.acme, "ada@acme.test")
	k.revoked(k.ada, in.Session.ID, "revoked") // the first try stops here
	k.must(k.SignIns.Sessions.Revoke(t.Context(), asked(k.acme, "own"), k.ada, in.Session.ID))
	if k.stands(in, k.acme) || !k.session(k.acme, in.Session.ID).Ended {
		t.Error("the session goes on")
	}
}

func TestChangePassword_TakesTheOtherSessionsWithItOrDoesNotHappen(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	thief, mine := k.signIn(k.acme, "ada@acme.test"), k.signIn(k.acme, "ada@acme.test")
	again := func() error {
		_, err := k.OwnPassword.Change(t.Context(), asked(k.acme, "change"), change(mine, chosen, another))
		return err
	}
	k.withoutSessions(again)
	if !k.has(k.ada, chosen) {
		t.Error("the password was replaced, and the other sessions go on")
	}
	k.must(again())
	if !k.has(k.ada, another) || k.stands(thief, k.acme) || !k.stands(mine, k.acme) {
		t.Error("a repeat does not do the rest")
	}
	k.notRenewed(thief)
}

func TestChangePassword_ARepeatRecordsTheEndsThatAStopBehindTheNewPasswordLeft(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	thief, mine := k.signIn(k.acme, "ada@acme.test"), k.signIn(k.acme, "ada@acme.test")
	ask := asked(k.acme, "change")
	k.Run(t, ask.Step("password"), commands.RecordPasswordChange{UserID: k.ada})
	proven, err := k.Vault.Passwords.Verify(t.Context(), k.acme, k.ada, chosen)
	k.must(err)
	hash, err := k.Vault.Passwords.Hash(t.Context(), k.acme, another)
	k.must(err)
	others := vault.Revocation{Users: []id.User{k.ada}, Except: mine.Session.ID, Reason: "password_changed"}
	exchanged, err := k.Vault.Passwords.Exchange(t.Context(), proven, hash, others) // the first try stops here
	if err != nil || !exchanged {
		t.Fatalf("exchanged %v, %v", exchanged, err)
	}
	k.notRenewed(thief)
	_, err = k.OwnPassword.Change(t.Context(), ask, change(mine, chosen, another))
	k.must(err)
	if !k.session(k.acme, thief.Session.ID).Ended || k.session(k.acme, mine.Session.ID).Ended ||
		!k.has(k.ada, another) {
		t.Error("the repeat did not do the rest")
	}
}

func TestEnable_NoSessionOfBeforeADisablingThatWasCutOffComesBack(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	nia := k.added(k.acme, "nia@acme.test", events.RoleSupport)
	thief := k.signIn(k.acme, "nia@acme.test")
	k.withoutSessions(func() error {
		disable := commands.DisableMember{UserID: nia, OrgID: k.acme, By: k.ada, Reason: "stolen telephone"}
		_, err := k.Staff.Disable(t.Context(), asked(k.acme, "off"), disable)
		return err
	})
	if m, _ := k.member(nia, k.acme); !m.Disabled {
		t.Fatal("the membership was not disabled: nothing is tested")
	}
	k.clock.Advance(forgotten)
	_, err := k.Staff.Enable(t.Context(), asked(k.acme, "on"), nia)
	k.must(err)
	if !k.session(k.acme, thief.Session.ID).Ended || k.stands(thief, k.acme) {
		t.Error("the session goes on")
	}
	in := k.signIn(k.acme, "nia@acme.test")
	_, err = k.Staff.Enable(t.Context(), asked(k.acme, "on once more"), nia)
	k.must(err)
	if !k.stands(in, k.acme) {
		t.Error("to enable somebody who has access ended a session")
	}
	k.notRenewed(thief)
}

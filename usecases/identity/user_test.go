package identitycases_test

import (
	"runtime"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

func TestAdd_SomebodyNewAndSomebodyKnownLookAlike(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	nia, done, err := k.Staff.Add(t.Context(), asked(k.acme, "nia"), newcomer(" Nia@Acme.test"))
	k.must(err)
	k.shown(done)
	olga, done, err := k.Staff.Add(t.Context(), asked(k.acme, "olga"), newcomer("olga@other.test"))
	k.must(err)
	k.shown(done)
	if olga != k.olga {
		t.Errorf("a second user of one address")
	}
	if v := nia.UUID().Version(); v != 5 {
		t.Errorf("an id of version %d shows when it was made", v)
	}
	fresh, err := k.users.Member(t.Context(), k.acme, nia)
	k.must(err)
	known, err := k.users.Member(t.Context(), k.acme, olga)
	k.must(err)
	if fresh.Phone != "+254712345678" || fresh.FirstName != "Nia" || fresh.Phone != known.Phone ||
		fresh.FirstName != known.FirstName || fresh.Role != known.Role {
		t.Errorf("new %+v, known %+v", fresh, known)
	}
	if !k.has(nia, temporary) || !k.has(olga, chosen) || k.has(olga, temporary) {
		t.Error("somebody new has the temporary password, somebody known keeps the own one")
	}
	if m, _ := k.member(nia, k.acme); m.Pending {
		t.Error("a new account waits for its person")
	}
	if m, _ := k.member(olga, k.acme); !m.Pending {
		t.Error("a membership was accepted for somebody")
	}
}

func TestAdd_Refusals(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for field, spoil := range map[string]func(*identitycases.NewMember){
		"email":    func(m *identitycases.NewMember) { m.Email = personal.Of("Nia <n@x.test>") },
		"phone":    func(m *identitycases.NewMember) { m.Phone = personal.Of("12") },
		"name":     func(m *identitycases.NewMember) { m.FirstName = personal.Of(" ") },
		"role":     func(m *identitycases.NewMember) { m.Role = events.RoleSuperAdmin },
		"password": func(m *identitycases.NewMember) { m.TemporaryPassword = "short" },
	} {
		in := newcomer("x@acme.test")
		spoil(&in)
		if _, _, err := k.Staff.Add(t.Context(), asked(k.acme, field), in); err == nil {
			t.Errorf("a bad %s is taken", field)
		} else {
			k.fails(err, "invalid_input")
		}
	}
	_, _, err := k.Staff.Add(t.Context(), asked(k.acme, "again"), newcomer("ada@acme.test"))
	k.fails(err, "already_member")
}

func TestAdd_ARepeatMeetsWhatTheFirstTryMade(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	ask := asked(k.acme, "nia")
	user := id.Derive[id.User]("user", usecases.NewID[id.Any](ask, "user").String())
	k.must(k.Vault.Passwords.Set(t.Context(), user, "of a try that stopped")) // the first try stops here
	first, done, err := k.Staff.Add(t.Context(), ask, newcomer("nia@acme.test"))
	k.must(err)
	k.shown(done)
	if first != user || !k.has(user, temporary) {
		t.Errorf("user %s, want %s with the temporary password", first, user)
	}
	k.must(k.Vault.Passwords.Set(t.Context(), user, chosen)) // the person chooses a password before the repeat
	again, doneAgain, err := k.Staff.Add(t.Context(), ask, newcomer("nia@acme.test"))
	if err != nil || again != first || doneAgain.Position != done.Position || !k.has(user, chosen) {
		t.Errorf("again %s at %d, %v", again, doneAgain.Position, err)
	}
	known := asked(k.acme, "olga")
	first, done, err = k.Staff.Add(t.Context(), known, newcomer("olga@other.test"))
	k.must(err)
	again, doneAgain, err = k.Staff.Add(t.Context(), known, newcomer("olga@other.test"))
	if err != nil || again != first || doneAgain.Position != done.Position {
		t.Errorf("a known person again: %s at %d, %v", again, doneAgain.Position, err)
	}
}

func TestAdd_TwoOrganizationsAddOnePersonAtOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	orgs, users := []id.Organization{k.acme, k.other}, make([]id.User, 2)
	for i, err := range coretest.AtOnce(len(orgs), func(n int) (err error) {
		users[n], _, err = k.Staff.Add(t.Context(), asked(orgs[n], "nia"), newcomer("nia@new.test"))
		return err
	}) {
		if err != nil {
			t.Errorf("organization %d: %v", i, err)
		}
	}
	if users[0] != users[1] {
		t.Errorf("one address has two users: %v", users)
	}
	_, here := k.member(users[0], k.acme)
	_, there := k.member(users[0], k.other)
	if !here || !there || !k.has(users[0], temporary) {
		t.Errorf("member here %v, there %v", here, there)
	}
}

// TestWork_IsTheSameForWhoeverIsKnown compares the part that takes the time: each way costs one hash, which is seen by
// the memory that a hash takes. It is not parallel, since that memory is counted for the whole program.
func TestWork_IsTheSameForWhoeverIsKnown(t *testing.T) {
	const mebibytes = 64
	k := newKitOf(t, vault.Argon2{MemoryKiB: mebibytes * 1024, Passes: 1, Threads: 1})
	hashes := func(act func()) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		act()
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / (mebibytes << 20)
	}
	add := func(email string) func() {
		return func() {
			_, _, err := k.Staff.Add(t.Context(), asked(k.acme, email), newcomer(email))
			k.must(err)
		}
	}
	signIn := func(org id.Organization, email string, password secrets.Text) func() {
		return func() {
			_, err := k.SignIns.SignIn(t.Context(), public(org), credentials(email, password))
			k.fails(err, "wrong_credentials")
		}
	}
	for name, act := range map[string]func(){
		"add a new address":               add("nia@acme.test"),
		"add a known address":             add("olga@other.test"),
		"sign in with a wrong password":   signIn(k.acme, "ada@acme.test", "wrong"),
		"sign in with an unknown address": signIn(k.acme, "nobody@acme.test", chosen),
		"sign in as a stranger":           signIn(k.other, "ada@acme.test", chosen),
	} {
		if n := hashes(act); n < 1 || n > 1.5 {
			t.Errorf("%s costs %.2f hashes, want one", name, n)
		}
	}
}

func TestDisable_EndsTheSessionsHereAtOnceAndNoOthers(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	_, done, err := k.Staff.Add(t.Context(), asked(k.acme, "olga"), newcomer("olga@other.test"))
	k.must(err)
	k.shown(done)
	here, there := k.signIn(k.acme, "olga@other.test"), k.signIn(k.other, "olga@other.test")
	disable := commands.DisableMember{UserID: k.olga, OrgID: k.acme, By: k.ada}
	foreign := disable
	foreign.OrgID = id.New[id.Organization]()
	_, err = k.Staff.Disable(t.Context(), asked(foreign.OrgID, "x"), foreign)
	k.fails(err, "user_not_found")
	own := disable
	own.By = k.olga
	_, err = k.Staff.Disable(t.Context(), asked(k.acme, "own"), own)
	k.fails(err, "own_account")
	if !k.stands(here, k.acme) {
		t.Fatal("a refused attempt ended the session")
	}
	_, err = k.Staff.Disable(t.Context(), asked(k.acme, "off"), disable)
	k.must(err)
	if k.stands(here, k.acme) || !k.stands(there, k.other) {
		t.Errorf("stands here %v, there %v", k.stands(here, k.acme), k.stands(there, k.other))
	}
	_, err = k.SignIns.Renew(t.Context(), public(k.acme), here.Refresh)
	k.fails(err, "refresh_token_invalid")
	_, err = k.SignIns.Renew(t.Context(), public(k.other), there.Refresh)
	k.must(err)
	_, err = k.SignIns.SignIn(t.Context(), public(k.acme), credentials("olga@other.test", chosen))
	k.fails(err, "wrong_credentials")
}

func TestDisable_ARepeatEndsTheSessionsThatAStopLeft(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	_, done, err := k.Staff.Add(t.Context(), asked(k.acme, "nia"), newcomer("nia@acme.test"))
	k.must(err)
	k.shown(done)
	one, err := k.SignIns.SignIn(t.Context(), public(k.acme), credentials("nia@acme.test", temporary))
	k.must(err)
	two, err := k.SignIns.SignIn(t.Context(), public(k.acme), credentials("nia@acme.test", temporary))
	k.must(err)
	ask := asked(k.acme, "off")
	disable := commands.DisableMember{UserID: one.User.ID, OrgID: k.acme, By: k.ada, Reason: "left"}
	_, err = k.Bus.Execute(t.Context(), disable, ask.Meta) // the first try stops here
	k.must(err)
	k.must(k.Vault.RefreshTokens.RevokeSession(t.Context(), one.Session))
	_, err = k.Staff.Disable(t.Context(), ask, disable)
	k.must(err)
	_, err = k.SignIns.Renew(t.Context(), public(k.acme), two.Refresh)
	k.fails(err, "refresh_token_invalid")
	state, _, err := bus.LoadOwned[identity.Session](t.Context(), k.Bus, k.acme, two.Session)
	if err != nil || !state.Ended {
		t.Errorf("the session was left open: %+v, %v", state, err)
	}
}

func TestAddSuperAdmin_KeepsTheGivenPassword(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := identitycases.SuperAdmin{
		UserID: id.New[id.User](), Email: personal.Of(" Root@Platform.test"), FirstName: personal.Of("Root"),
		Password: chosen,
	}
	registrations, ask := k.Staff.Registrations, asked(id.Organization{}, "root")
	done, err := registrations.AddSuperAdmin(t.Context(), ask, in)
	k.must(err)
	again, err := registrations.AddSuperAdmin(t.Context(), ask, in)
	if err != nil || again.Position != done.Position {
		t.Errorf("again at %d, %v", again.Position, err)
	}
	if root := k.signIn(id.Organization{}, "root@platform.test"); root.Role != events.RoleSuperAdmin ||
		root.User.MustChangePassword {
		t.Errorf("%+v", root)
	}
	_, err = registrations.AddSuperAdmin(t.Context(), asked(id.Organization{}, "same user"), in)
	k.fails(err, "user_exists")
	taken := in
	taken.UserID = id.New[id.User]()
	_, err = registrations.AddSuperAdmin(t.Context(), asked(id.Organization{}, "taken"), taken)
	k.fails(err, "email_taken")
	if k.has(taken.UserID, chosen) || !k.has(in.UserID, chosen) {
		t.Error("a password stays with nobody, or went from somebody")
	}
	taken.Password = "short"
	_, err = registrations.AddSuperAdmin(t.Context(), asked(id.Organization{}, "short"), taken)
	k.fails(err, "invalid_input")
}

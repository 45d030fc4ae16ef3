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

func TestAdd_AnAddressKnownElsewhereGetsAUserOfItsOwn(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	nia, done, err := k.Staff.Add(t.Context(), asked(k.acme, "nia"), newcomer(" Nia@Acme.test"))
	k.must(err)
	k.shown(done)
	olga, done, err := k.Staff.Add(t.Context(), asked(k.acme, "olga"), newcomer("olga@other.test"))
	k.must(err)
	k.shown(done)
	if olga == k.olga {
		t.Error("the id shows that the person is a user of another organization")
	}
	if v := nia.UUID().Version(); v != 5 {
		t.Errorf("an id of version %d shows when it was made", v)
	}
	fresh, err := k.users.Member(t.Context(), k.acme, nia)
	k.must(err)
	known, err := k.users.Member(t.Context(), k.acme, olga)
	k.must(err)
	if fresh.Phone != "+254712345678" || fresh.FirstName != "Nia" || fresh.Phone != known.Phone ||
		fresh.FirstName != known.FirstName || fresh.Role != known.Role || fresh.Status != known.Status {
		t.Errorf("new %+v, known %+v", fresh, known)
	}
	if !k.has(nia, temporary) || !k.has(olga, temporary) || !k.has(k.olga, chosen) || k.has(k.olga, temporary) {
		t.Error("each record has its own password")
	}
	if _, member := k.member(k.olga, k.acme); member {
		t.Error("the other organization's user became a member")
	}
}

// TestAdd_ATemporaryPasswordOpensNoOtherOrganization is the way in which an administrator took the seat of a stranger:
// by registering the address before the other organization did.
func TestAdd_ATemporaryPasswordOpensNoOtherOrganization(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	_, done, err := k.Staff.Add(t.Context(), asked(k.acme, "trap"), newcomer("boss@net.test"))
	k.must(err)
	k.shown(done)
	in := newOrganization("net", "boss@net.test")
	in.Admin.TemporaryPassword = another
	made, err := k.Organizations.Create(t.Context(), asked(id.Organization{}, "net"), in)
	k.must(err)
	k.shown(made.Done)
	_, err = k.SignIns.SignIn(t.Context(), public(made.ID), credentials("boss@net.test", temporary))
	k.fails(err, "wrong_credentials")
	boss, err := k.SignIns.SignIn(t.Context(), public(made.ID), credentials("boss@net.test", another))
	k.must(err)
	trap, err := k.SignIns.SignIn(t.Context(), public(k.acme), credentials("boss@net.test", temporary))
	k.must(err)
	if trap.User.ID == boss.User.ID || k.stands(trap, made.ID) || !k.stands(boss, made.ID) {
		t.Errorf("the trap %+v, the administrator %+v", trap.User, boss.User)
	}
	_, err = k.OwnPassword.Change(t.Context(), asked(k.acme, "own"), identitycases.NewPassword{
		UserID: trap.User.ID, Session: trap.Session.ID, Current: temporary, New: chosen,
	})
	k.must(err)
	if !k.has(boss.User.ID, another) || !k.stands(boss, made.ID) {
		t.Error("a change at one organization reached another's user")
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
	in := newcomer("nia@acme.test")
	user := id.Derive[id.User]("user", usecases.NewID[id.Any](ask, "user").String())
	_, err := k.Bus.Execute(t.Context(), commands.RegisterUser{
		UserID: user, OrgID: k.acme, Email: in.Email, FirstName: in.FirstName, Role: in.Role, MustChangePassword: true,
	}, ask.Step("user"))
	k.must(err) // the first try stops here, without a password
	first, done, err := k.Staff.Add(t.Context(), ask, in)
	k.must(err)
	k.shown(done)
	if first != user || !k.has(user, temporary) {
		t.Errorf("user %s, want %s with the temporary password", first, user)
	}
	coretest.SetPassword(t, k.Vault, user, chosen) // the person chooses a password before the repeat
	again, doneAgain, err := k.Staff.Add(t.Context(), ask, in)
	if err != nil || again != first || doneAgain.Position != done.Position || !k.has(user, chosen) {
		t.Errorf("again %s at %d, %v", again, doneAgain.Position, err)
	}
}

// TestAdd_ARefusedRegistrationWritesNoPassword is the silent reset: the same command id with another address must not
// touch the password of the user that the first request made.
func TestAdd_ARefusedRegistrationWritesNoPassword(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	ask := asked(k.acme, "one key")
	user, done, err := k.Staff.Add(t.Context(), ask, newcomer("nia@acme.test"))
	k.must(err)
	k.shown(done)
	second := newcomer("somebody@else.test")
	second.TemporaryPassword = another
	_, _, err = k.Staff.Add(t.Context(), ask, second)
	k.must(err) // it is answered as a repeat, and wrote nothing
	if !k.has(user, temporary) || k.has(user, another) {
		t.Error("another request under the key reset the password")
	}
	refused := asked(k.acme, "refused")
	_, _, err = k.Staff.Add(t.Context(), refused, newcomer("nia@acme.test"))
	k.fails(err, "already_member")
	if k.has(id.Derive[id.User]("user", usecases.NewID[id.Any](refused, "user").String()), temporary) {
		t.Error("a refused registration left a password")
	}
}

func TestAdd_TwoOrganizationsAddOneAddressAtOnce(t *testing.T) {
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
	for i, user := range users {
		if _, member := k.member(user, orgs[i]); !member || !k.has(user, temporary) {
			t.Errorf("organization %d has no user of its own", i)
		}
		if _, member := k.member(user, orgs[1-i]); member {
			t.Errorf("the user of organization %d belongs to the other one, too", i)
		}
	}
}

func TestAdd_OneOrganizationAddsAnAddressOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	added := 0
	for _, err := range coretest.AtOnce(3, func(n int) error {
		_, _, err := k.Staff.Add(t.Context(), asked(k.acme, string(rune('a'+n))), newcomer("nia@new.test"))
		return err
	}) {
		if err == nil {
			added++
		} else {
			k.fails(err, "already_member")
		}
	}
	if added != 1 {
		t.Errorf("added %d times", added)
	}
}

// TestWork_IsTheSameForWhoeverIsKnown compares the part that takes the time: each way costs the same hashes, which are
// seen by the memory that a hash takes. Only to add an own member again costs none, and tells the organization nothing
// that its list of users does not show. It is not parallel, since that memory is counted for the whole program.
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
	again := func() {
		_, _, err := k.Staff.Add(t.Context(), asked(k.acme, "again"), newcomer("ada@acme.test"))
		k.fails(err, "already_member")
	}
	signIn := func(org id.Organization, email string, password secrets.Text) func() {
		return func() {
			_, err := k.SignIns.SignIn(t.Context(), public(org), credentials(email, password))
			k.fails(err, "wrong_credentials")
		}
	}
	for _, org := range []id.Organization{k.acme, k.other, k.third()} {
		k.joined(org, "many@home.test")
	}
	fourth, _ := k.organization("fourth", "boss@fourth.test")
	k.joined(fourth, "many@home.test")
	k.root()
	k.joined(k.other, "root@platform.test")
	platform := id.Organization{}
	for name, c := range map[string]struct {
		want float64
		act  func()
	}{
		"add a new address":               {1, add("nia@acme.test")},
		"add a known address":             {1, add("olga@other.test")},
		"add an own member again":         {0, again},
		"sign in with a wrong password":   {1, signIn(k.acme, "ada@acme.test", "wrong")},
		"sign in with an unknown address": {1, signIn(k.acme, "nobody@acme.test", chosen)},
		"sign in as a stranger":           {1, signIn(k.other, "ada@acme.test", chosen)},
		"an unknown address at the root":  {3, signIn(platform, "nobody@acme.test", chosen)},
		"a wrong password at the root":    {3, signIn(platform, "ada@acme.test", "wrong")},
		"an address of two at the root":   {3, signIn(platform, "olga@other.test", "wrong")},
		"an address of four at the root":  {3, signIn(platform, "many@home.test", "wrong")},
		"the platform's own address":      {3, signIn(platform, "root@platform.test", "wrong")},
		"another record of that address":  {3, signIn(platform, "root@platform.test", temporary)},
	} {
		if n := hashes(c.act); n < c.want || n > c.want+0.5 {
			t.Errorf("%s costs %.2f hashes, want %.0f", name, n, c.want)
		}
	}
}

func TestDisable_EndsTheSessionsHereAtOnceAndNoOthers(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	nia := k.added(k.acme, "olga@other.test", events.RoleSupport)
	here, there := k.signIn(k.acme, "olga@other.test"), k.signIn(k.other, "olga@other.test")
	disable := commands.DisableMember{UserID: nia, OrgID: k.acme, By: k.ada}
	foreign := disable
	foreign.OrgID = k.other
	_, err := k.Staff.Disable(t.Context(), asked(foreign.OrgID, "x"), foreign)
	k.fails(err, "user_not_found")
	own := disable
	own.By = nia
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

// added is a user of an organization with a role and the chosen password, shown by the read model.
func (k *kit) added(org id.Organization, email string, role events.Role) id.User {
	k.t.Helper()
	in := newcomer(email)
	in.Role = role
	user, done, err := k.Staff.Add(k.t.Context(), asked(org, "add "+email), in)
	k.must(err)
	coretest.SetPassword(k.t, k.Vault, user, chosen)
	k.shown(k.Run(k.t, asked(org, "chosen "+email).Meta, commands.RecordPasswordChange{UserID: user}))
	k.shown(done)
	return user
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
	k.revoked(one.User.ID, one.Session.ID, "disabled")
	_, err = k.Staff.Disable(t.Context(), ask, disable)
	k.must(err)
	_, err = k.SignIns.Renew(t.Context(), public(k.acme), two.Refresh)
	k.fails(err, "refresh_token_invalid")
	state, _, err := bus.LoadOwned[identity.Session](t.Context(), k.Bus, k.acme, two.Session.ID)
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

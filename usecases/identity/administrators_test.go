package identitycases_test

import (
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

func TestDisable_TwoAdministratorsWhoDisableEachOtherLeaveOne(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	bea := k.added(k.acme, "bea@acme.test", events.RoleAdmin)
	pair := []commands.DisableMember{
		{UserID: bea, OrgID: k.acme, By: k.ada, Reason: "x"}, {UserID: k.ada, OrgID: k.acme, By: bea, Reason: "x"},
	}
	refused := 0
	for _, err := range coretest.AtOnce(2, func(n int) error {
		_, err := k.Staff.Disable(t.Context(), asked(k.acme, string(rune('a'+n))), pair[n])
		return err
	}) {
		if err != nil {
			k.fails(err, "last_administrator")
			refused++
		}
	}
	here, _ := k.member(k.ada, k.acme)
	there, _ := k.member(bea, k.acme)
	if refused != 1 || here.Disabled == there.Disabled {
		t.Errorf("refused %d, Ada disabled %v, Bea disabled %v", refused, here.Disabled, there.Disabled)
	}
}

func TestCorrect_ARefusedCorrectionLeavesTheAdministratorCounted(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	boss := k.added(k.acme, "boss@acme.test", events.RoleAdmin)
	_, err := k.Persons.Prove(t.Context(), public(id.Organization{}), proof("boss@acme.test"))
	k.must(err)
	role, name := events.RoleSupport, personal.Of("Other")
	_, err = k.Staff.Correct(t.Context(), asked(k.acme, "both"), commands.CorrectUser{
		UserID: boss, OrgID: k.acme, By: k.ada, Role: &role, FirstName: &name,
	})
	k.fails(err, "details_of_person")
	k.counts(boss, k.ada)
	stale, off := asked(k.acme, "off"), commands.DisableMember{UserID: boss, OrgID: k.acme, By: k.ada}
	stale.Meta.ExpectedRevision = new(uint64)
	_, err = k.Staff.Disable(t.Context(), stale, off)
	k.fails(err, "stale_revision")
	k.counts(boss, k.ada)
}

// counts checks which administrators Acme counts.
func (k *kit) counts(want ...id.User) {
	k.t.Helper()
	org, _ := k.state(k.acme)
	for _, user := range want {
		if !org.Administrators[user] {
			k.t.Errorf("%s is an administrator, and is not counted", user)
		}
	}
	if len(org.Administrators) != len(want) {
		k.t.Errorf("%d are counted, want %d", len(org.Administrators), len(want))
	}
}

// Refused corrections give seats back while the same administrators are disabled and enabled: in the end those count
// who can act, and there is one.
func TestCorrect_RefusedOnesAndOthersAtOnceLeaveACountedAdministrator(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	bea := k.added(k.acme, "bea@acme.test", events.RoleAdmin)
	_, err := k.Persons.Prove(t.Context(), public(id.Organization{}), proof("bea@acme.test"))
	k.must(err)
	role, name := events.RoleSupport, personal.Of("Other")
	for round := range 4 {
		coretest.AtOnce(4, func(n int) error {
			ask := asked(k.acme, fmt.Sprint(round, n))
			var err error
			switch n {
			case 0:
				_, err = k.Staff.Correct(t.Context(), ask, commands.CorrectUser{
					UserID: bea, OrgID: k.acme, By: k.ada, Role: &role, FirstName: &name,
				})
			case 1:
				_, err = k.Staff.Disable(t.Context(), ask, commands.DisableMember{
					UserID: bea, OrgID: k.acme, By: k.ada,
				})
			case 2:
				_, err = k.Staff.Disable(t.Context(), ask, commands.DisableMember{
					UserID: k.ada, OrgID: k.acme, By: bea,
				})
			case 3:
				_, err = k.Staff.Enable(t.Context(), ask, bea)
			}
			return err
		})
		var able []id.User
		for _, user := range []id.User{k.ada, bea} {
			if m, _ := k.member(user, k.acme); !m.Disabled {
				able = append(able, user)
			}
		}
		if len(able) == 0 {
			t.Fatal("nobody is left")
		}
		k.counts(able...)
	}
}

func TestCorrect_TheLastAdministratorKeepsTheRole(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	bea, support := k.added(k.acme, "bea@acme.test", events.RoleAdmin), events.RoleSupport
	admin := events.RoleAdmin
	change := func(key string, user, by id.User, role events.Role) error {
		_, err := k.Staff.Correct(t.Context(), asked(k.acme, key), commands.CorrectUser{
			UserID: user, OrgID: k.acme, By: by, Role: &role,
		})
		return err
	}
	k.must(change("demote", bea, k.ada, support))
	k.fails(change("self", k.ada, k.ada, support), "own_role")
	k.fails(change("by support", k.ada, bea, support), "last_administrator")
	if m, _ := k.member(k.ada, k.acme); m.Role != events.RoleAdmin {
		t.Fatalf("the last administrator is %s", m.Role)
	}
	k.must(change("promote", bea, k.ada, admin))
	_, err := k.Staff.Disable(t.Context(), asked(k.acme, "off"), commands.DisableMember{
		UserID: k.ada, OrgID: k.acme, By: bea,
	})
	k.must(err)
	k.fails(change("now the last", bea, k.ada, support), "last_administrator")
	_, err = k.Staff.Enable(t.Context(), asked(k.acme, "on"), k.ada)
	k.must(err)
	k.must(change("one of two", bea, k.ada, support))
}

package access_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// now is the instant of all decisions here, and org the organization that decides.
var (
	now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	org = id.Derive[id.Organization]("acme")
)

// usual is the default policy in shillings.
func usual() events.DunningPolicy { return access.DefaultDunningPolicy(money.KES) }

func TestDunningPolicies_ReplaceThoseBeforeAndAreSetOnce(t *testing.T) {
	t.Parallel()
	strict := usual()
	strict.GraceDays = 0
	set := commands.SetDunningPolicies{
		OrgID: org, Default: usual(), Policies: map[string]events.DunningPolicy{"strict": strict},
	}
	recorded := events.DunningPoliciesSet{OrgID: org, Default: usual(), Policies: set.Policies, At: now}
	mixed := set
	mixed.Default.ReminderDays = []int{0, -7, -3}
	mixed.Default.NoCutDays = []events.Weekday{"sunday", "saturday", "sunday"}
	s := decidertest.For(t, access.DunningPolicies(), now).BelongsTo(id.Organization{}, "not_found").
		When(set).Then(recorded).When(set).ThenNothing().When(mixed).ThenNothing().BelongsTo(org, "not_found")
	if gone := s.State().Without(nil); len(gone) != 1 || gone[0] != "strict" {
		t.Errorf("left out: %v", gone)
	}
	if p, ok := s.State().Policy("strict"); !ok || p.GraceDays != 0 {
		t.Errorf("strict: %+v %v", p, ok)
	}
	if p, ok := s.State().Policy("gone"); ok || p.GraceDays != 3 {
		t.Errorf("a name without policy: %+v %v", p, ok)
	}
	s.When(commands.SetDunningPolicies{OrgID: org, Default: usual()}).Then(events.DunningPoliciesSet{
		OrgID: org, Default: usual(), Policies: map[string]events.DunningPolicy{}, At: now,
	})
}

func TestDunningPolicies_ThatWereNeverSetAreTheUsualOnes(t *testing.T) {
	t.Parallel()
	var none access.DunningRules
	p, ok := none.In("UGX").Policy("")
	if diff := cmp.Diff(access.DefaultDunningPolicy("UGX"), p); diff != "" || !ok || p.MinimumDue.Minor != 50 {
		t.Errorf("%+v %v", p, ok)
	}
	if err := commands.CheckDunningPolicy(p); err != nil {
		t.Error(err)
	}
}

func TestDunningPolicies_FaultsNameTheFieldAndTheRange(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*events.DunningPolicy){
		"graceDays must be from 0 to 365":        func(p *events.DunningPolicy) { p.GraceDays = -1 },
		"walledGardenDays must be from 0 to 365": func(p *events.DunningPolicy) { p.WalledGardenDays = 366 },
		"writeOffDays must be from 0 to 3650":    func(p *events.DunningPolicy) { p.WriteOffDays = 4000 },
		"minimumDue must not be negative":        func(p *events.DunningPolicy) { p.MinimumDue.Minor = -1 },
		"reminderDays must be days from -365":    func(p *events.DunningPolicy) { p.ReminderDays = []int{400} },
		"reminderDays must have each day once":   func(p *events.DunningPolicy) { p.ReminderDays = []int{0, 0} },
		"reminderDays must be at most 20":        func(p *events.DunningPolicy) { p.ReminderDays = make([]int, 21) },
		`noCutDays must be days from monday`:     func(p *events.DunningPolicy) { p.NoCutDays[0] = "Saturday" },
		`noCutAfter must be days from monday`: func(p *events.DunningPolicy) {
			p.NoCutAfter = map[events.Weekday]calendar.TimeOfDay{"fri": 1}
		},
		"messageHours must have a from before its to": func(p *events.DunningPolicy) {
			p.MessageHours = events.MessageHours{From: 600, To: 600}
		},
		"noCutDays must leave a day on which customers can be cut": func(p *events.DunningPolicy) {
			p.NoCutDays = []events.Weekday{"monday", "tuesday", "wednesday", "thursday", "saturday", "sunday"}
			p.NoCutAfter = map[events.Weekday]calendar.TimeOfDay{"friday": 0}
		},
	} {
		p := usual()
		change(&p)
		err := commands.CheckDunningPolicy(p)
		if failure.CodeOf(err) != "invalid_input" || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}

func TestDunningPolicies_FaultsOfANamedPolicyNameIt(t *testing.T) {
	t.Parallel()
	bad := usual()
	bad.GraceDays = -1
	err := commands.SetDunningPolicies{
		OrgID: org, Default: usual(), Policies: map[string]events.DunningPolicy{"night": bad, "two words": usual()},
	}.Validate()
	for _, want := range []string{"policies.night.graceDays must be", "policies must have names of 1 to 50"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}

package accesscases

import (
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Many ask at once while the rules change: nobody gets rules that were replaced before the question.
func TestPresentRules_AreNeverOlderThanTheQuestion(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	k := coretest.New(t, now)
	bus.Register(k.Bus, identity.Organizations())
	bus.Register(k.Bus, access.DunningPolicies())
	org := id.New[id.Organization]()
	k.Run(t, coretest.Operator(org), coretest.NewOrganization(org, "acme"))
	present := presentRules{clock: now}
	for grace := 5; grace < 15; grace++ {
		policy := access.DefaultDunningPolicy(money.KES)
		policy.GraceDays = grace
		k.Run(t, coretest.Operator(org), commands.SetDunningPolicies{OrgID: org, Default: policy})
		var group errgroup.Group
		for range 20 {
			group.Go(func() error {
				rules, err := present.of(t.Context(), k.Bus, org, false)
				if err == nil && rules.policy("").GraceDays != grace {
					t.Errorf("%d days of grace, want %d", rules.policy("").GraceDays, grace)
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := present.of(t.Context(), k.Bus, id.New[id.Organization](), false); err == nil {
		t.Error("an unknown organization has rules")
	}
}

// A review that an instant asks for shares the rules of this moment, and gets new ones when the moment is over.
func TestPresentRules_OfThisMomentAreSharedForAnInstantOnly(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	k := coretest.New(t, now)
	bus.Register(k.Bus, identity.Organizations())
	bus.Register(k.Bus, access.DunningPolicies())
	org := id.New[id.Organization]()
	k.Run(t, coretest.Operator(org), coretest.NewOrganization(org, "acme"))
	present := presentRules{clock: now}
	grace := func(recent bool) int {
		rules, err := present.of(t.Context(), k.Bus, org, recent)
		if err != nil {
			t.Fatal(err)
		}
		return rules.policy("").GraceDays
	}
	usual := grace(true)
	policy := access.DefaultDunningPolicy(money.KES)
	policy.GraceDays = usual + 1
	k.Run(t, coretest.Operator(org), commands.SetDunningPolicies{OrgID: org, Default: policy})
	if got := grace(true); got != usual {
		t.Errorf("in this moment: %d days", got)
	}
	now.Advance(thisMoment)
	if got := grace(true); got != usual+1 {
		t.Errorf("after it: %d days", got)
	}
	policy.GraceDays = usual + 2
	k.Run(t, coretest.Operator(org), commands.SetDunningPolicies{OrgID: org, Default: policy})
	if got := grace(false); got != usual+2 {
		t.Errorf("for an event: %d days", got)
	}
	now.Advance(-time.Hour)
	if got := grace(true); got != usual+2 {
		t.Errorf("before it: %d days", got)
	}
}

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
	k := coretest.New(t, clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)))
	bus.Register(k.Bus, identity.Organizations())
	bus.Register(k.Bus, access.DunningPolicies())
	org := id.New[id.Organization]()
	k.Run(t, coretest.Operator(org), coretest.NewOrganization(org, "acme"))
	var present presentRules
	for grace := 5; grace < 15; grace++ {
		policy := access.DefaultDunningPolicy(money.KES)
		policy.GraceDays = grace
		k.Run(t, coretest.Operator(org), commands.SetDunningPolicies{OrgID: org, Default: policy})
		var group errgroup.Group
		for range 20 {
			group.Go(func() error {
				rules, err := present.of(t.Context(), k.Bus, org)
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
	if _, err := present.of(t.Context(), k.Bus, id.New[id.Organization]()); err == nil {
		t.Error("an unknown organization has rules")
	}
}

package cpecases_test

import (
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// TestProvisions_AnOrganizationWritesSoManyVersionsInAnHour: what is refused for its text is none, and another
// organization has its own.
func TestProvisions_AnOrganizationWritesSoManyVersionsInAnHour(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	bus.Register(k.Kit.Bus, cpe.Provisions())
	u := cpecases.Provisions{
		Bus: k.Kit.Bus, Ready: func() error { return nil }, Limiter: vault.NewLocalLimits(clock.System()),
		Check: func(source, _ string) (int, string) {
			if source == "bad" {
				return 1, "bad"
			}
			return 0, ""
		},
	}
	acme, rival := id.New[id.Organization](), id.New[id.Organization]()
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(acme, "acme"))
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(rival, "rival"))
	for n := range 30 {
		_, _, err := u.Write(t.Context(), coretest.Ask(acme), "own", "bad")
		if failure.CodeOf(err) != "provision_refused" {
			t.Fatal(err)
		}
		_, done, err := u.Write(t.Context(), coretest.Ask(acme), "own", fmt.Sprintf("log(%d);", n))
		if err != nil || !done.Changed {
			t.Fatal(done, err)
		}
	}
	if _, _, err := u.Write(t.Context(), coretest.Ask(acme), "two", "log(1);"); failure.CodeOf(err) != "rate_limited" {
		t.Errorf("one more: %v", err)
	}
	if _, _, err := u.Write(t.Context(), coretest.Ask(rival), "own", "log(1);"); err != nil {
		t.Errorf("of another organization: %v", err)
	}
}

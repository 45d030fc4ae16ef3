package cpecases_test

import (
	"context"
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

// TestProvisions_AnOrganizationSendsSoManyScriptsInAnHour: those that are refused count, and another organization
// has its own.
func TestProvisions_AnOrganizationSendsSoManyScriptsInAnHour(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	bus.Register(k.Kit.Bus, cpe.Provisions())
	u := cpecases.Provisions{
		Bus: k.Kit.Bus, Ready: func() error { return nil }, Limiter: vault.NewLocalLimits(clock.System()),
		Check: func(_ context.Context, _ id.Organization, source, _ string) (int, string, error) {
			if source == "bad" {
				return 1, "bad", nil
			}
			return 0, "", nil
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

// TestProvisions_AScriptIsReadAfterAllElseWasChecked, because reading it costs most.
func TestProvisions_AScriptIsReadAfterAllElseWasChecked(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	bus.Register(k.Kit.Bus, cpe.Provisions())
	away, read := failure.NewUnavailable("cpe_server_unavailable", "It is away.", 0, nil), 0
	u := cpecases.Provisions{
		Bus: k.Kit.Bus, Ready: func() error { return away }, Limiter: vault.NewLocalLimits(clock.System()),
		Check: func(context.Context, id.Organization, string, string) (int, string, error) {
			read++
			return 0, "", failure.NewUnavailable("parsing_busy", "Many.", 0, nil)
		},
	}
	acme := id.New[id.Organization]()
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(acme, "acme"))
	write := func(name, want string, reads int) {
		t.Helper()
		_, _, err := u.Write(t.Context(), coretest.Ask(acme), name, "log(1);")
		if failure.CodeOf(err) != want || read != reads {
			t.Errorf("%q: %v, read %d times, want %s", name, err, read, want)
		}
	}
	write("own", "cpe_server_unavailable", 0)
	u.Ready = func() error { return nil }
	write("not a name", "invalid_input", 0)
	write("own", "parsing_busy", 1)
	for range 59 {
		write("own", "parsing_busy", read+1)
	}
	write("own", "rate_limited", 60)
}

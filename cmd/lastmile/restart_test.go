package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// TestStop_EndsWithinFiveSecondsUnderLoad: Ctrl-C while customers pay, on a private cluster.
func TestStop_EndsWithinFiveSecondsUnderLoad(t *testing.T) {
	t.Parallel()
	k := newPrivateKit(t).start().signIn()
	k.faults(provider.Faults{LatencyMs: 20_000, C2BAlso: true}) // a provider that hangs must not delay the stop
	subscriber, _ := k.subscriber("254711000301")
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		_, _ = k.admin.call(context.WithoutCancel(t.Context()), "POST", "/payments/initiate", "", map[string]any{
			"subscriberId": subscriber, "amount": 100,
		})
	}()
	k.eventually("a prompt under way", func(ctx context.Context) (bool, error) {
		var n int
		err := k.app.storage.db.Owner.QueryRow(ctx,
			`select count(*) from `+k.app.storage.db.Namespace.Schema("river")+`.river_job
			where kind = 'payments_submit_prompt' and state = 'running'`).Scan(&n)
		return n > 0, err
	})
	begun := time.Now()
	k.app.Stop()
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("stopping took %s", took)
	}
	<-asked
}

// TestStart_SecondProgramIsRefusedAndCommandsAttach: one program serves a data directory, and commands use its database
// and its node.
func TestStart_SecondProgramIsRefusedAndCommandsAttach(t *testing.T) {
	t.Parallel()
	k := newPrivateKit(t)
	k.command("admin", "create", "--email", "first@lastmile.test", "--password", testPassword) // before anything runs
	k.start()
	k.command("admin", "create", "--email", "second@lastmile.test", "--password", testPassword)
	k.login("", "first@lastmile.test", testPassword)
	k.login("", "second@lastmile.test", testPassword)

	var out, errs logBuffer
	if code := (program{environ: k.environ, out: &out, err: &errs}).run(t.Context(),
		[]string{"serve"}); code != exitFailed {
		t.Errorf("a second program on the same data ended with code %d", code)
	}
	if text := errs.String(); !strings.Contains(text, "in use") && !strings.Contains(text, "serves this data") {
		t.Errorf("a second program does not say what is wrong: %s", text)
	}
	if list := k.command("projections", "list"); !strings.Contains(list, "identity_users") {
		t.Errorf("projections list shows no identity_users:\n%s", list)
	}
	k.command("projections", "rebuild", "identity_users")
	if report := k.command("projections", "verify"); strings.Contains(report, "DIFFERENT") {
		t.Errorf("read models differ from the log:\n%s", report)
	}
}

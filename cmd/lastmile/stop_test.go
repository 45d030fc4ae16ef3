package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// TestStop_APromptInFlightKeepsTheProvidersAnswer: the provider takes a prompt, and answers when the program has been
// told to stop already.
func TestStop_APromptInFlightKeepsTheProvidersAnswer(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	subscriber, _ := k.subscriber("254711000302")
	if err := k.sim.SetPhone("254711000302", provider.Phone{Behaviour: "silent"}); err != nil {
		t.Fatal(err)
	}
	k.faults(provider.Faults{LateResponseMs: 500})
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		_, _ = k.admin.call(context.WithoutCancel(t.Context()), "POST", "/payments/initiate", "", map[string]any{
			"subscriberId": subscriber, "amount": 100,
		})
	}()
	k.eventually("a prompt at the provider", func(context.Context) (bool, error) {
		return len(k.sim.Prompts()) == 1, nil
	})
	k.app.Stop()
	<-asked
	k.faults(provider.Faults{})
	k.start()
	k.admin, _ = k.login("acme", testAdminEmail, testPassword) // the address has changed
	list := k.all(k.admin, "/payments")
	if len(list) != 1 || list[0]["checkoutRequestId"] != k.sim.Prompts()[0].CheckoutRequestID {
		t.Errorf("the answer was lost: %v", list)
	}
}

// TestReadOnlyDatabase_IsToldToThoseWhoWriteAndToReadiness: a server that may not write any more, as after a fail-over.
func TestReadOnlyDatabase_IsToldToThoseWhoWriteAndToReadiness(t *testing.T) {
	t.Parallel()
	k := newPrivateKit(t).start().signIn()
	settings := filepath.Join(k.config().DataDir, "pgdata", "postgresql.auto.conf")
	before, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	set := func(text []byte, want postgres.Writes) {
		t.Helper()
		if err := os.WriteFile(settings, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(k.app.storage.cluster.PID(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		k.eventually("writes are "+string(want), func(context.Context) (bool, error) {
			return k.app.storage.writes.State() == want, nil
		})
	}
	set(append(before, "\ndefault_transaction_read_only = on\n"...), postgres.WritesReadOnly)
	if err := k.errorOf(k.client(""), "POST", "/auth/login", map[string]any{
		"email": "someone@lastmile.test", "password": testPassword,
	}); err.Status != 503 || err.Code != "database_unavailable" {
		t.Errorf("sign-in: %+v", err)
	}
	if got := k.errorOf(k.client(""), "GET", "/readyz", nil); got.Status != 503 ||
		!strings.Contains(got.Body, "read-only") {
		t.Errorf("readiness: %+v", got)
	}
	if got := k.statusOf(k.admin, "/subscribers"); got != 200 {
		t.Errorf("reading: %d", got)
	}
	set(before, postgres.WritesTaken)
	k.eventually("service to be ready again", func(context.Context) (bool, error) {
		return k.statusOf(k.client(""), "/readyz") == 200, nil
	})
}

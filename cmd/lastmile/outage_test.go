package main

import (
	"context"
	"errors"
	"syscall"
	"testing"
)

// TestPostgres_KilledAgainWhileItRestoresNeverEndsTheProgram: the private server is killed each time it was started
// again, more often than a start that fails by itself is tried. Until it runs, everything is answered 503.
func TestPostgres_KilledAgainWhileItRestoresNeverEndsTheProgram(t *testing.T) {
	t.Parallel()
	k := newPrivateKit(t).start().signIn()
	k.subscriber("254711000901")
	answered := map[int]int{}
	for range 6 {
		pid := k.app.storage.cluster.PID()
		// A server may end by itself while processes of the one before are still ending.
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatalf("kill PostgreSQL: %v", err)
		}
		k.eventually("the server to be started again", func(context.Context) (bool, error) {
			answered[k.statusOf(k.client(""), "/readyz")]++
			answered[k.statusOf(k.admin, "/subscribers")]++
			return k.app.storage.cluster.PID() != pid, nil
		})
	}
	for status, times := range answered {
		if status != 200 && status != 503 {
			t.Errorf("%d requests were answered %d", times, status)
		}
	}
	if answered[503] == 0 {
		t.Error("nobody was told that the service is unavailable")
	}
	k.eventually("service to be ready again", func(context.Context) (bool, error) {
		return k.statusOf(k.client(""), "/readyz") == 200, nil
	})
	// A connection of before, which nobody has used since, can be the one of the first request, which says so.
	k.eventually("a customer to be taken in", func(ctx context.Context) (bool, error) {
		_, err := k.admin.call(ctx, "POST", "/subscribers", "after-the-outage", map[string]any{
			"firstName": "Customer", "lastName": "0902", "phone": "+254711000902",
		})
		return err == nil, err
	})
}

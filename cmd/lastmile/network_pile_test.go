package main

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// For two hours no program works the queue. What waits then is one job for each service, and not one more for each five
// minutes; and it is done when the queue is worked again.
func TestOutage_OfTheQueueLeavesOneJobForEachService(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16")
	now := clock.NewMovable(clock.System(), 0)
	k.clock = now
	app, err := StartApp(t.Context(), k.config(), roles{roleEventStore, roleAPI, roleProjections, roleProcesses},
		slog.New(withoutRequests{slog.NewJSONHandler(k.log, nil)}), k.options())
	if err != nil {
		t.Fatal(err)
	}
	atEnd(t, app.Stop)
	k.app, k.addr = app, app.Addr()
	k.signIn()
	r := k.register(0)
	var services []string
	for _, parent := range []string{"ether4", "ether5"} {
		services = append(services, k.must(k.admin, "POST", "/nas/devices/"+r.device+"/services",
			map[string]any{"type": "pppoe", "parentInterface": parent}).text("id"))
	}
	for range 24 {
		now.Advance(5*time.Minute + time.Second)
		k.eventually("the time-outs", func(ctx context.Context) (taken bool, err error) {
			err = k.db.Owner.QueryRow(ctx, `select count(*) = 2 from `+k.db.Namespace.Schema("processes")+`.timers
				where process = 'provisioning' and name = 'retry' and due_at > $1`, now.Now()).Scan(&taken)
			return taken, err
		})
	}
	var jobs int
	if err := k.db.Owner.QueryRow(t.Context(), `select count(*) from `+k.db.Namespace.Schema("river")+`.river_job
		where kind = 'network_apply_service'`).Scan(&jobs); err != nil || jobs != len(services) {
		t.Errorf("%d jobs wait for %d services, %v", jobs, len(services), err)
	}
	app.Stop()
	k.start()
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	for _, service := range services {
		k.serviceIs(service, "active")
	}
}

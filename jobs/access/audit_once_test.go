package accessjobs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// views serves what a log has as read models.
func (k *kit) views(log *feedtest.Log, models ...runner.Projection) *runner.Views {
	k.t.Helper()
	r := runner.New(runner.Config{Feed: feedtest.Start(k.t, log), DB: k.DB, Clock: k.clock})
	r.Register(models...)
	coretest.Start(k.t, "read models", r)
	head, err := log.Head(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	for _, model := range models {
		coretest.WaitFor(k.t, r.Views(), head, model.Name())
	}
	return r.Views()
}

// TestAuditAll_EachRouterIsLookedAtOnceInAnInterval, although searches are close together, and each look has ended when
// the next search comes. When the clock was put back, the same intervals come once more.
func TestAuditAll_EachRouterIsLookedAtOnceInAnInterval(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	log, routers := feedtest.New(), 4
	for i := range routers {
		log.Append(events.Metadata{OrgID: k.org}, events.DeviceRegistered{
			DeviceID: id.Derive[id.Device]("test", fmt.Sprint("tower ", i)), OrgID: k.org, APIRef: id.New[id.Secret](),
		})
	}
	a := &accessjobs.Auditor{
		Enforcer: k.Enforcer, Every: 5 * time.Minute,
		Devices: networkviews.DevicesQuery{Views: k.views(log, networkviews.Devices{})},
	}
	table := k.DB.Namespace.Schema("river") + ".river_job"
	looks := func(intervals int) (n int) {
		t.Helper()
		for range intervals * 20 {
			k.clock.Advance(15 * time.Second)
			if err := a.AuditAll(t.Context(), commands.AuditAccess{}, jobs.Cause{}); err != nil {
				t.Fatal(err)
			}
			if _, err := k.DB.Owner.Exec(t.Context(), `update `+table+` set state = 'completed', finalized_at = now()
				where kind = 'access_audit_router'`); err != nil {
				t.Fatal(err)
			}
		}
		if err := k.DB.Owner.QueryRow(t.Context(), `with ended as (delete from `+table+`
			where kind = 'access_audit_router' returning 1) select count(*) from ended`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := looks(3); n != 3*routers {
		t.Errorf("%d looks at %d routers in three intervals", n, routers)
	}
	k.clock.Advance(-10 * time.Minute)
	if n := looks(2); n != 2*routers {
		t.Errorf("%d looks at %d routers in two intervals that came again", n, routers)
	}
}

package networkviews_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// TestDevices_NamesAreOfTheOwnOrganizationAlsoOfDecommissionedRouters: old sessions and refusals name their router.
func TestDevices_NamesAreOfTheOwnOrganizationAlsoOfDecommissionedRouters(t *testing.T) {
	t.Parallel()
	acme, beta := id.New[id.Organization](), id.New[id.Organization]()
	tower, gone, theirs := id.New[id.Device](), id.New[id.Device](), id.New[id.Device]()
	log := feedtest.New()
	registered := func(org id.Organization, device id.Device, name string) {
		log.Append(events.Metadata{OrgID: org}, events.DeviceRegistered{
			DeviceID: device, OrgID: org, Details: events.DeviceDetails{Name: name},
		})
	}
	registered(acme, tower, "tower")
	registered(acme, gone, "old mill")
	registered(beta, theirs, "secret")
	log.Append(events.Metadata{OrgID: acme}, events.DeviceDecommissioned{DeviceID: gone})
	r := runner.New(runner.Config{
		Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(time.Unix(0, 0)),
	})
	r.Register(networkviews.Devices{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	head, _ := log.Head(t.Context())
	if err := r.Views().WaitFor(t.Context(), networkviews.DevicesName, head); err != nil {
		t.Fatal(err)
	}
	asked := []id.Device{tower, gone, theirs, id.New[id.Device](), {}}
	got, err := networkviews.DevicesQuery{Views: r.Views()}.Names(t.Context(), acme, asked)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[id.Device]string{tower: "tower", gone: "old mill"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

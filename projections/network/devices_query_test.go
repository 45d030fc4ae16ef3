package networkviews_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
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
	coretest.WaitFor(t, r.Views(), head, networkviews.DevicesName)
	asked := []id.Device{tower, gone, theirs, id.New[id.Device](), {}}
	got, err := networkviews.DevicesQuery{Views: r.Views()}.Names(t.Context(), acme, asked)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[id.Device]string{tower: "tower", gone: "old mill"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestHistory_WhatCustomersFeelIsReadWithHowItStoodBefore: a router that was away already is, and other organizations
// and routers are not among it.
func TestHistory_WhatCustomersFeelIsReadWithHowItStoodBefore(t *testing.T) {
	t.Parallel()
	acme, beta := id.New[id.Organization](), id.New[id.Organization]()
	tower, mill, theirs := id.New[id.Device](), id.New[id.Device](), id.New[id.Device]()
	log := feedtest.New()
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	happens := func(org id.Organization, hours int, e events.Event) {
		log.Append(events.Metadata{OrgID: org, At: noon.Add(time.Duration(hours) * time.Hour)}, e)
	}
	happens(acme, -3, events.DeviceUnreachable{DeviceID: tower})
	happens(acme, -2, events.DeviceRecovered{DeviceID: tower})
	happens(acme, -1, events.DeviceUnreachable{DeviceID: tower, Error: "no route"})
	happens(acme, -1, events.DeviceRebootConfirmed{DeviceID: tower})
	happens(acme, 0, events.DeviceRecovered{DeviceID: tower})
	happens(acme, 1, events.ServiceApplied{DeviceID: tower, Repaired: true})
	happens(acme, 1, events.ServiceApplied{DeviceID: tower})
	happens(acme, 1, events.DeviceUnreachable{DeviceID: mill})
	happens(beta, 1, events.DeviceUnreachable{DeviceID: theirs})
	happens(acme, 2, events.DeviceRebootConfirmed{DeviceID: tower})
	happens(acme, 3, events.DeviceUnreachable{DeviceID: tower})
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(noon)})
	r.Register(networkviews.History{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	head, _ := log.Head(t.Context())
	coretest.WaitFor(t, r.Views(), head, networkviews.HistoryName)
	in := events.TimeSpan{From: noon, To: noon.Add(3 * time.Hour)}
	rows, err := networkviews.HistoryQuery{Views: r.Views()}.Happened(t.Context(), acme, []id.Device{tower, theirs}, in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range rows {
		got = append(got, row.Kind+" "+row.At.Sub(noon).String())
	}
	want := []string{"unreachable -1h0m0s", "recovered 0s", "repaired 1h0m0s", "reboot_confirmed 2h0m0s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

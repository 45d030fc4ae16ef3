package main

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/outages"
)

// TestOutage_WhoseBeginningComesLateIsNone: the job has waited while nobody saw whether the routers came back.
func TestOutage_WhoseBeginningComesLateIsNone(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	cases := outagescases.Outages{Bus: k.app.engines.bus, Clock: k.app.clock}
	org, one, two := k.organizationID("acme"), id.New[id.Device](), id.New[id.Device]()
	begin := func(at time.Time) {
		meta := commands.Meta{
			CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
		}
		err := cases.Detected(t.Context(), commands.BeginDetectedOutage{
			OrgID: org, Root: one, Devices: []id.Device{one, two}, Since: at.Add(-2 * time.Minute), At: at,
		}, meta)
		if err != nil {
			t.Fatal(err)
		}
	}
	now := k.app.clock.Now().Truncate(time.Microsecond)
	begin(now.Add(-3 * time.Hour))
	begin(now.Add(-time.Minute))
	k.settled()
	list := k.must(k.admin, "GET", "/outages", nil).list("data")
	if len(list) != 1 || list[0].text("startedAt") != now.Add(-3*time.Minute).UTC().Format(time.RFC3339Nano) {
		t.Errorf("outages %v, want the one of now", list)
	}
}

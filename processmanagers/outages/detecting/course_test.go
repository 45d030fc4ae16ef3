package detecting_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// course is a scenario with one outage, of which each look's commands about it are carried out.
type course struct {
	t *testing.T
	scenario
	outage events.OutageBegan
	ended  *commands.EndOutage
}

// goes has a router go away after some time.
func (c *course) goes(d id.Device, after time.Duration) {
	c.scenario = later(c.scenario, after).Given(events.DeviceUnreachable{DeviceID: d, At: now.Add(after)})
}

// comes has a router answer again after some time.
func (c *course) comes(d id.Device, after time.Duration) {
	c.scenario = later(c.scenario, after).Given(events.DeviceRecovered{DeviceID: d, At: now.Add(after)})
}

// looks moves the clock to a look. What it asks for about the outage happens: routers that come are silent.
func (c *course) looks(after time.Duration) processmanagers.Output {
	c.t.Helper()
	s := at(c.scenario, after)
	out := s.Output()
	s = later(s, after)
	o := &c.outage
	for _, job := range out.Jobs {
		watch, is := job.(commands.WatchOutage)
		if !is || watch.OutageID != o.OutageID {
			continue
		}
		for _, d := range watch.Downs {
			if slices.Contains(o.Devices, d.DeviceID) && !o.Downs.IsDown(d.DeviceID) {
				o.Downs = o.Downs.Come(d)
				s = s.Given(events.OutageExtended{
					OutageID: o.OutageID, OrgID: org, Root: o.Place.DeviceID, Devices: o.Devices, Downs: o.Downs,
					At: now,
				})
			}
		}
	}
	for _, command := range out.Commands {
		switch command := command.(type) {
		case commands.NarrowOutage:
			for _, back := range command.Back {
				o.Downs = slices.Clone(o.Downs)
				for i, d := range o.Downs {
					if d.DeviceID == back.DeviceID && d.To.IsZero() {
						o.Downs[i].To = back.At
					}
				}
			}
			s = s.Given(events.OutageNarrowed{OutageID: o.OutageID, OrgID: org, Downs: o.Downs, At: now.Add(after)})
		case commands.EndOutage:
			c.ended = &command
			s = s.Given(events.OutageEnded{
				OutageID: o.OutageID, OrgID: org, EndedAt: command.EndedAt, Parted: command.Parted, Back: command.Back,
				At: now.Add(after),
			})
		}
	}
	c.scenario = s
	return out
}

// allDown begins a course with an outage of some routers, of which the first one is the root.
func allDown(t *testing.T, devices ...id.Device) *course {
	t.Helper()
	c := &course{t: t, scenario: network(t), outage: began("one", devices[0], devices...)}
	for _, d := range devices {
		c.outage.Downs = append(c.outage.Downs, events.RouterDown{DeviceID: d, From: now})
		c.scenario = c.Given(down(d))
	}
	c.scenario = c.Given(c.outage)
	return c
}

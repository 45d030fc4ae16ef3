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

// course is a scenario of which all that looks ask for is carried out: routers that go away are silent.
type course struct {
	t *testing.T
	scenario
	outages []*events.OutageBegan // with their present routers and parts, also those that are over
	ends    map[id.Outage]commands.EndOutage
}

// goes has a router go away after some time.
func (c *course) goes(d id.Device, after time.Duration) {
	c.scenario = later(c.scenario, after).Given(events.DeviceUnreachable{DeviceID: d, At: now.Add(after)})
}

// comes has a router answer again after some time.
func (c *course) comes(d id.Device, after time.Duration) {
	c.scenario = later(c.scenario, after).Given(events.DeviceRecovered{DeviceID: d, At: now.Add(after)})
}

// first is the outage with which the course began.
func (c *course) first() id.Outage { return c.outages[0].OutageID }

// ended is how the first outage has ended; nil = it lasts.
func (c *course) ended() *commands.EndOutage {
	if end, is := c.ends[c.first()]; is {
		return &end
	}
	return nil
}

// of is the last outage that has a router.
func (c *course) of(d id.Device) (last *events.OutageBegan) {
	for _, o := range c.outages {
		if slices.Contains(o.Devices, d) {
			last = o
		}
	}
	return last
}

// looks moves the clock to a look. What it asks for happens.
func (c *course) looks(after time.Duration) processmanagers.Output {
	c.t.Helper()
	s := at(c.scenario, after)
	out := s.Output()
	c.scenario = later(s, after)
	for _, job := range out.Jobs {
		switch job := job.(type) {
		case commands.BeginDetectedOutage:
			c.begins(job)
		case commands.WatchOutage:
			c.extends(job.OutageID, job.Downs, job.Absorbs)
		}
	}
	for _, command := range out.Commands {
		switch command := command.(type) {
		case commands.NarrowOutage:
			c.narrows(command)
		case commands.ExtendOutage:
			c.extends(command.OutageID, command.Downs, command.Absorbs)
		case commands.EndOutage:
			c.ends[command.OutageID] = command
			c.scenario = c.Given(events.OutageEnded{
				OutageID: command.OutageID, OrgID: org, EndedAt: command.EndedAt, MergedInto: command.MergedInto,
				Parted: command.Parted, Back: command.Back, At: now.Add(after),
			})
		}
	}
	return out
}

// begins has an outage begin as a look asks for it.
func (c *course) begins(job commands.BeginDetectedOutage) {
	o := began(job.Root.String()+job.Since.String(), job.Root, job.Devices...)
	o.Downs, o.Absorbed, o.StartedAt, o.At = job.Downs, job.Absorbs, job.Since, job.At
	c.scenario, c.outages = c.Given(o), append(c.outages, &o)
}

// extends brings routers and parts to an outage that it does not have.
func (c *course) extends(outage id.Outage, downs events.RouterDowns, absorbs []id.Outage) {
	for _, o := range c.outages {
		if o.OutageID != outage {
			continue
		}
		news := len(absorbs) > 0
		for _, d := range downs {
			if !slices.Contains(o.Devices, d.DeviceID) {
				o.Devices = append(slices.Clone(o.Devices), d.DeviceID)
			} else if o.Downs.IsDown(d.DeviceID) {
				continue
			}
			o.Downs, news = o.Downs.Come(d), true
		}
		if news {
			o.Absorbed = slices.Concat(o.Absorbed, absorbs)
			c.scenario = c.Given(events.OutageExtended{
				OutageID: outage, OrgID: org, Root: o.Place.DeviceID, Devices: o.Devices, Downs: o.Downs,
				Absorbed: absorbs, At: now,
			})
		}
	}
}

// narrows ends times of routers of an outage.
func (c *course) narrows(command commands.NarrowOutage) {
	for _, o := range c.outages {
		if o.OutageID != command.OutageID {
			continue
		}
		o.Downs = slices.Clone(o.Downs)
		for _, back := range command.Back {
			for i, d := range o.Downs {
				if d.DeviceID == back.DeviceID && d.To.IsZero() {
					o.Downs[i].To = back.At
				}
			}
		}
		c.scenario = c.Given(events.OutageNarrowed{OutageID: o.OutageID, OrgID: org, Downs: o.Downs, At: now})
	}
}

// allDown begins a course with an outage of some routers, of which the first one is the root.
func allDown(t *testing.T, devices ...id.Device) *course {
	t.Helper()
	c := &course{t: t, scenario: network(t), ends: map[id.Outage]commands.EndOutage{}}
	one := began("one", devices[0], devices...)
	for _, d := range devices {
		one.Downs = append(one.Downs, events.RouterDown{DeviceID: d, From: now})
		c.scenario = c.Given(down(d))
	}
	c.scenario, c.outages = c.Given(one), append(c.outages, &one)
	return c
}

package detecting_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// had is for how long outages have had a router, until an instant of the course.
func (c *course) had(d id.Device, until time.Duration) (sum time.Duration) {
	for _, o := range c.outages {
		for _, down := range o.Downs.Of(d) {
			end := down.To
			if ended, is := c.ends[o.OutageID]; is && end.IsZero() {
				end = ended.EndedAt
			}
			if end.IsZero() || end.After(now.Add(until)) {
				end = now.Add(until)
			}
			sum += max(0, end.Sub(down.From))
		}
	}
	return sum
}

func TestDetecting_WhoStaysDownWhenAnOutageIsOverForOthersLosesNoTime(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	c := allDown(t, tower, hill)
	c.comes(tower, 2*time.Hour)
	c.looks(2*time.Hour + 2*time.Minute)
	c.goes(tower, day+5*time.Minute)
	c.looks(day + 7*time.Minute)
	c.looks(day + 9*time.Minute)
	if c.ended() == nil {
		t.Fatal("the outage lasts")
	}
	c.comes(tower, day+10*time.Minute)
	c.comes(hill, day+10*time.Minute)
	c.looks(day + 12*time.Minute)
	c.looks(day + 25*time.Minute)
	if had := c.had(hill, day+10*time.Minute); had != day+10*time.Minute {
		t.Errorf("the hill was down for %s, of which outages have %s", day+10*time.Minute, had)
	}
}

func TestDetecting_AnOutageThatAPersonBeginsTakesNoTimeOfTheLastOneAway(t *testing.T) {
	t.Parallel()
	c := allDown(t, tower, hill)
	c.comes(tower, time.Hour)
	c.looks(time.Hour + 2*time.Minute)
	said := began("said", hill, hill)
	said.Detected, said.StartedAt, said.At = false, now.Add(23*time.Hour), now.Add(23*time.Hour)
	said.Downs = events.RouterDowns{{DeviceID: hill, From: said.StartedAt}}
	c.scenario, c.outages = later(c.scenario, 23*time.Hour).Given(said), append(c.outages, &said)
	for at := 25*time.Hour + 2*time.Minute; at < 26*time.Hour; at += 2 * time.Minute {
		c.looks(at)
	}
	if c.ended() == nil {
		t.Fatal("the first outage lasts")
	}
	if had := c.had(hill, 23*time.Hour); had != 23*time.Hour {
		t.Errorf("until the person's begins, outages have %s of %s", had, 23*time.Hour)
	}
	if had := c.had(hill, 26*time.Hour); had != 26*time.Hour {
		t.Errorf("outages have %s of %s", had, 26*time.Hour)
	}
}

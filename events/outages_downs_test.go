package events_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestRouterDowns_EachHasItsOwnTimes: the tower is down in all of an outage of ten hours, the hill twice.
func TestRouterDowns_EachHasItsOwnTimes(t *testing.T) {
	t.Parallel()
	hour := func(n int) time.Time { return time.Date(2026, 3, 1, n, 0, 0, 0, time.UTC) }
	tower, hill := id.Derive[id.Device]("test", "tower"), id.Derive[id.Device]("test", "hill")
	both, outage := []id.Device{tower, hill}, events.TimeSpan{From: hour(0), To: hour(10)}
	list := events.RouterDowns{{DeviceID: hill, From: hour(1), To: hour(2)}, {DeviceID: hill, From: hour(6)}}
	want := func(what string, got, want events.RouterDowns) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	whole := events.RouterDown{DeviceID: tower, From: hour(0), To: hour(10)}
	all := list.Until(both, outage)
	want("all", all, events.RouterDowns{whole, list[0], {DeviceID: hill, From: hour(6), To: hour(10)}})
	want("those that last", list.Lasting(both, outage),
		events.RouterDowns{whole, {DeviceID: hill, From: hour(6), To: hour(10)}})
	want("when it ended before the hill went away again", list.Until(both, events.TimeSpan{From: hour(0), To: hour(5)}),
		events.RouterDowns{{DeviceID: tower, From: hour(0), To: hour(5)}, list[0]})
	again := events.RouterDowns{list[1].Since(hour(7)).Since(hour(8)), list[1].Since(hour(5))}
	want("since the end of another one", again,
		events.RouterDowns{{DeviceID: hill, From: hour(8), First: hour(6)}, list[1]})
	want("of one that is back", list[:1].Lasting(both, outage), events.RouterDowns{whole})
	want("a part", all.Within(events.TimeSpan{From: hour(2), To: hour(7)}), events.RouterDowns{
		{DeviceID: tower, From: hour(2), To: hour(7)}, {DeviceID: hill, From: hour(6), To: hour(7)},
	})
	for name, c := range map[string]struct {
		of       events.RouterDowns
		from, to int
	}{
		"the longest of two":      {all[1:], 6, 10},
		"what overlaps":           {events.RouterDowns{all[1], {From: hour(2), To: hour(8)}}, 1, 8},
		"one within another":      {events.RouterDowns{whole, all[1]}, 0, 10},
		"the first of equal ones": {events.RouterDowns{{From: hour(5), To: hour(6)}, all[1]}, 1, 2},
	} {
		if got := c.of.Longest(); !got.From.Equal(hour(c.from)) || !got.To.Equal(hour(c.to)) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

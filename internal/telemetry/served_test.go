package telemetry_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestServed_HasWhoWasThereInTheTime: who had a session at a router, or on a service of it, at any moment of a time.
// A session that was lost counts for a while after its last report; others end at their end.
func TestServed_HasWhoWasThereInTheTime(t *testing.T) {
	t.Parallel()
	k := open(t)
	who := map[string]id.Subscriber{}
	for _, name := range []string{"stays", "left", "lost", "later", "elsewhere", "foreign", "guest"} {
		who[name] = id.Derive[id.Subscriber]("served", name)
	}
	elsewhere := id.New[id.Device]()
	directory := k.directory()
	directory.Resolve = func(r telemetry.Report) telemetry.Given {
		given := telemetry.Given{Subscriber: who[r.User], Subscription: id.As[id.Subscription](who[r.User])}
		if r.User == "guest" {
			given.Subscription = id.Subscription{}
		}
		return given
	}
	report := func(name string, kind telemetry.Kind, at, online time.Duration, called string) telemetry.Report {
		r := k.at(kind, online, 1, 1)
		r.Session, r.User, r.Called, r.At = name, name, called, noon.Add(at)
		return r
	}
	hour := time.Hour
	foreign, moved := report("foreign", telemetry.Start, 0, 0, "a"), report("elsewhere", telemetry.Start, 0, 0, "a")
	foreign.Org, foreign.Device, moved.Device = id.New[id.Organization](), id.New[id.Device](), elsewhere
	if _, err := k.Commit(t.Context(), directory, []telemetry.Report{
		report("stays", telemetry.Start, 0, 0, "a"), report("left", telemetry.Stop, hour, hour, "a"),
		report("later", telemetry.Start, 5*hour, 0, "b"), report("lost", telemetry.Interim, hour, hour, "b"),
		report("guest", telemetry.Start, 0, 0, "a"), foreign, moved,
	}); err != nil {
		t.Fatal(err)
	}
	k.lose(t, "lost", noon.Add(hour))
	for _, c := range []struct {
		name     string
		from, to time.Duration
		servers  []string
		want     []string
	}{
		{"the whole day", -hour, 9 * hour, nil, []string{"stays", "left", "lost", "later"}},
		{"while all but one were there", 30 * time.Minute, 40 * time.Minute, nil, []string{"stays", "left", "lost"}},
		{"just after two went", hour + time.Minute, 2 * hour, nil, []string{"stays", "lost"}},
		{"long after two went", 2 * hour, 3 * hour, nil, []string{"stays"}},
		{"one of the services", -hour, 9 * hour, []string{"b"}, []string{"lost", "later"}},
		{"no service", -hour, 9 * hour, []string{}, nil},
		{"before all", -2 * hour, -hour, nil, nil},
	} {
		at := telemetry.ServedAt{
			Devices: []id.Device{k.device}, Servers: c.servers, From: noon.Add(c.from), To: noon.Add(c.to),
		}
		got := k.served(t, at, who)
		slices.Sort(c.want)
		n, err := k.CountServed(t.Context(), k.org, at)
		if err != nil || n != len(c.want) || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, counted %d (%v), want %v", c.name, got, n, err, c.want)
		}
	}
}

// served reads the list one by one, and gives the names of those in it.
func (k *kit) served(t *testing.T, at telemetry.ServedAt, who map[string]id.Subscriber) (names []string) {
	t.Helper()
	for after := (id.Subscriber{}); ; {
		page, err := k.Served(t.Context(), k.org, at, after, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			slices.Sort(names)
			return names
		}
		after = page[0].SubscriberID
		for name, is := range who {
			if is == after {
				names = append(names, name)
			}
		}
	}
}

// lose ends a session as one that was lost.
func (k *kit) lose(t *testing.T, key string, at time.Time) {
	t.Helper()
	if _, err := k.db.Owner.Exec(t.Context(), `update `+k.schema()+`.sessions set ended_at = $2, end_reason = $3
		where session_key = $1`, key, at, telemetry.ReasonLost); err != nil {
		t.Fatal(err)
	}
}

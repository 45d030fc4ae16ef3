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
			Times: telemetry.During([]id.Device{k.device}, noon.Add(c.from), noon.Add(c.to)), Servers: c.servers,
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

// TestServed_WhoWasCutOffCountsWhateverTheSessionWasClosedAs: a router goes away at one, eight minutes after its last
// reports, and is back at ten past. Its customers count for that time however their sessions were closed since. Who had
// left by the router's own report, or had gone on elsewhere before, does not.
func TestServed_WhoWasCutOffCountsWhateverTheSessionWasClosedAs(t *testing.T) {
	t.Parallel()
	k := open(t)
	const went, back, last = time.Hour, time.Hour + 10*time.Minute, 52 * time.Minute
	hit := []string{"dials again", "gone", "lost", "restarted", "still open"}
	who := map[string]id.Subscriber{}
	for _, name := range append(hit, "stopped", "redialled and stopped", "moved", "silent long before") {
		who[name] = id.Derive[id.Subscriber]("cut off", name)
	}
	directory := k.directory()
	directory.Resolve = func(r telemetry.Report) telemetry.Given {
		return telemetry.Given{Subscriber: who[r.User], Subscription: id.As[id.Subscription](who[r.User])}
	}
	report := func(name, session string, kind telemetry.Kind, at, online time.Duration) telemetry.Report {
		r := k.at(kind, online, 1, 1)
		r.Session, r.User, r.At = session, name, noon.Add(at)
		return r
	}
	commit := func(reports ...telemetry.Report) {
		t.Helper()
		if _, err := k.Commit(t.Context(), directory, reports); err != nil {
			t.Fatal(err)
		}
	}
	restarted, elsewhere := id.New[id.Device](), id.New[id.Device]()
	silent, open := went-16*time.Minute, report("restarted", "1", telemetry.Interim, last, last)
	moved := report("moved", "2", telemetry.Start, last+time.Minute, 0)
	open.Device, moved.Device = restarted, elsewhere
	commit(
		report("dials again", "1", telemetry.Interim, last, last), report("gone", "1", telemetry.Interim, last, last),
		report("lost", "1", telemetry.Interim, last, last), report("still open", "1", telemetry.Interim, last, last),
		report("silent long before", "1", telemetry.Interim, silent, silent), open,
		report("stopped", "1", telemetry.Stop, last, last),
		report("redialled and stopped", "1", telemetry.Interim, last, last),
		report("redialled and stopped", "2", telemetry.Start, last+time.Minute, 0),
		report("redialled and stopped", "2", telemetry.Stop, last+3*time.Minute, 2*time.Minute),
		report("moved", "1", telemetry.Interim, last, last), moved,
	)
	asks := func(when string) {
		t.Helper()
		both := []id.Device{k.device, restarted}
		at := telemetry.ServedAt{Times: telemetry.During(both, noon.Add(went), noon.Add(back))}
		got := k.served(t, at, who)
		if n, err := k.CountServed(t.Context(), k.org, at); err != nil || n != len(hit) || !slices.Equal(got, hit) {
			t.Errorf("%s: %v, counted %d (%v), want %v", when, got, n, err, hit)
		}
	}
	k.closes(t, telemetry.ReasonLost, "silent long before", "moved")
	asks("while the router is away")

	k.closes(t, telemetry.ReasonLost, "lost")
	k.closes(t, telemetry.ReasonGone, "gone")
	on := telemetry.Report{Kind: telemetry.On, Org: k.org, Device: restarted, At: noon.Add(back)}
	commit(on, report("dials again", "2", telemetry.Start, back+time.Minute, 0))
	k.closedAs(t, map[string]string{
		"dials again": telemetry.ReasonReplaced, "restarted": telemetry.ReasonRestarted, "still open": "",
		"redialled and stopped": telemetry.ReasonReplaced,
	})
	asks("when the customers are back")
}

// closedAs fails the test unless the first session of each was closed for a reason.
func (k *kit) closedAs(t *testing.T, why map[string]string) {
	t.Helper()
	for name, want := range why {
		var got string
		if err := k.db.Owner.QueryRow(t.Context(), `select end_reason from `+k.schema()+`.sessions
			where username = $1 and session_key = '1'`, name).Scan(&got); err != nil || got != want {
			t.Errorf("%s: closed as %q (%v), want %q", name, got, err, want)
		}
	}
}

// closes ends the first session of each at its last report, as the program concludes it.
func (k *kit) closes(t *testing.T, reason string, users ...string) {
	t.Helper()
	if _, err := k.db.Owner.Exec(t.Context(), `update `+k.schema()+`.sessions
		set ended_at = updated_at, ended_by = 2, end_reason = $2
		where username = any($1) and session_key = '1'`, users, reason); err != nil {
		t.Fatal(err)
	}
}

// lose ends a session as one that was lost.
func (k *kit) lose(t *testing.T, key string, at time.Time) {
	t.Helper()
	if _, err := k.db.Owner.Exec(t.Context(), `update `+k.schema()+`.sessions
		set ended_at = $2, ended_by = 2, end_reason = $3 where session_key = $1`, key, at,
		telemetry.ReasonLost); err != nil {
		t.Fatal(err)
	}
}

// TestServed_WhoWasOnElsewhereByThenIsNoneOfThem: whatever device it was, and before the old session is closed, too.
func TestServed_WhoWasOnElsewhereByThenIsNoneOfThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		device string // the MAC at the other router; "" = the same
		closed bool   // the old session was closed as lost
	}{
		"the same device, closed":     {"", true},
		"another device, closed":      {"AA:00:00:00:00:99", true},
		"the same device, still open": {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			const went, back = time.Hour, time.Hour + 10*time.Minute
			who := map[string]id.Subscriber{"moved": id.Derive[id.Subscriber]("test", "moved")}
			directory := k.directory()
			directory.Resolve = func(r telemetry.Report) telemetry.Given {
				return telemetry.Given{Subscriber: who[r.User], Subscription: id.As[id.Subscription](who[r.User])}
			}
			old, moved := k.at(telemetry.Interim, 52*time.Minute, 1, 1), k.at(telemetry.Start, 0, 1, 1)
			old.Session, old.User, old.At = "1", "moved", noon.Add(went-8*time.Minute)
			moved.Session, moved.User, moved.At = "2", "moved", noon.Add(went-7*time.Minute)
			moved.Device = id.New[id.Device]()
			if c.device != "" {
				moved.Calling, moved.MAC = c.device, c.device
			}
			if _, err := k.Commit(t.Context(), directory, []telemetry.Report{old, moved}); err != nil {
				t.Fatal(err)
			}
			if c.closed {
				k.closes(t, telemetry.ReasonLost, "moved")
			}
			at := telemetry.ServedAt{Times: telemetry.During([]id.Device{k.device}, noon.Add(went), noon.Add(back))}
			if got := k.served(t, at, who); len(got) > 0 {
				t.Errorf("hit: %v", got)
			}
		})
	}
}

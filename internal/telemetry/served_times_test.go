package telemetry_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestServed_EachRouterIsAskedForItsOwnTimes: one customer was at both routers one after the other, one at the second
// alone. Each answer names the times in which the subscription was there.
func TestServed_EachRouterIsAskedForItsOwnTimes(t *testing.T) {
	t.Parallel()
	k := open(t)
	who := map[string]id.Subscriber{}
	for _, name := range []string{"moves", "stays"} {
		who[name] = id.Derive[id.Subscriber]("test", name)
	}
	directory := k.directory()
	directory.Resolve = func(r telemetry.Report) telemetry.Given {
		return telemetry.Given{Subscriber: who[r.User], Subscription: id.As[id.Subscription](who[r.User])}
	}
	second := id.New[id.Device]()
	left := func(name, session string, device id.Device, at, online time.Duration) telemetry.Report {
		r := k.at(telemetry.Stop, online, 1, 1)
		r.User, r.Session, r.Device, r.At = name, session, device, noon.Add(at)
		return r
	}
	hour := time.Hour
	if _, err := k.Commit(t.Context(), directory, []telemetry.Report{
		left("moves", "1", k.device, 2*hour, 2*hour),
		left("moves", "2", second, 6*hour, 3*hour),
		left("stays", "3", second, 6*hour, 6*hour),
	}); err != nil {
		t.Fatal(err)
	}
	span := func(device id.Device, from, to time.Duration) telemetry.TimeAt {
		return telemetry.TimeAt{Device: device, From: noon.Add(from * hour), To: noon.Add(to * hour)}
	}
	for name, c := range map[string]struct {
		times        []telemetry.TimeAt
		moves, stays []int
	}{
		"the second before it had the one": {[]telemetry.TimeAt{span(second, 1, 2)}, nil, []int{0}},
		"each in its time": {
			[]telemetry.TimeAt{span(k.device, 1, 2), span(second, 4, 5), span(second, 5, 6)},
			[]int{0, 1, 2}, []int{1, 2},
		},
		"the first too late": {[]telemetry.TimeAt{span(k.device, 3, 9), span(second, 1, 4)}, []int{1}, []int{1}},
		"none":               {nil, nil, nil},
	} {
		rows, err := k.Served(t.Context(), k.org, telemetry.ServedAt{Times: c.times}, id.Subscriber{}, 9)
		if err != nil {
			t.Fatal(err)
		}
		got := map[id.Subscriber][]int{}
		for _, r := range rows {
			got[r.SubscriberID] = r.Times
		}
		n, err := k.CountServed(t.Context(), k.org, telemetry.ServedAt{Times: c.times})
		if err != nil || n != len(rows) || !slices.Equal(got[who["moves"]], c.moves) ||
			!slices.Equal(got[who["stays"]], c.stays) {
			t.Errorf("%s: %v, counted %d (%v), want %v and %v", name, got, n, err, c.moves, c.stays)
		}
	}
}

// TestServed_WhoWasEndedByTheRouterItselfWasHit: a router says of its sessions that they end because it restarts or
// has a fault, and does not come back. Four minutes later its breaker opens. Who had hung up is none of them, nor
// who dialled in elsewhere.
func TestServed_WhoWasEndedByTheRouterItselfWasHit(t *testing.T) {
	t.Parallel()
	k := open(t)
	who := map[string]id.Subscriber{}
	causes := map[string]uint32{
		"nas_reboot": 11, "admin_reboot": 7, "nas_error": 9, "user_request": 1, "lost_carrier": 2, "moved": 11,
	}
	for name := range causes {
		who[name] = id.Derive[id.Subscriber]("test", name)
	}
	directory := k.directory()
	directory.Resolve = func(r telemetry.Report) telemetry.Given {
		return telemetry.Given{Subscriber: who[r.User], Subscription: id.As[id.Subscription](who[r.User])}
	}
	const went, stopped = time.Hour, 56 * time.Minute
	moved := k.at(telemetry.Start, 0, 1, 1)
	moved.Session, moved.User, moved.At, moved.Device = "2", "moved", noon.Add(stopped+time.Minute), id.New[id.Device]()
	list := []telemetry.Report{moved}
	for name, cause := range causes {
		r := k.at(telemetry.Stop, stopped, 1, 1)
		r.Session, r.User, r.At, r.Cause = name, name, noon.Add(stopped), cause
		list = append(list, r)
	}
	if _, err := k.Commit(t.Context(), directory, list); err != nil {
		t.Fatal(err)
	}
	for late, want := range map[time.Duration][]string{
		0: {"admin_reboot", "nas_error", "nas_reboot"}, 15 * time.Minute: nil,
	} {
		at := telemetry.During([]id.Device{k.device}, noon.Add(went+late), noon.Add(went+time.Hour))
		if got := k.served(t, telemetry.ServedAt{Times: at}, who); !slices.Equal(got, want) {
			t.Errorf("%s later: %v, want %v", late, got, want)
		}
	}
}

// TestServed_WhoWasCutOffHoursBeforeAndIsNotBackWasHit: a place is asked about from hours after its router went away.
// Who was lost with it counts as far back as asked, unless they were on again since, left by a report, or were lost
// before.
func TestServed_WhoWasCutOffHoursBeforeAndIsNotBackWasHit(t *testing.T) {
	t.Parallel()
	k := open(t)
	who := map[string]id.Subscriber{}
	for _, name := range []string{"lost", "left", "back and left", "moved", "long before"} {
		who[name] = id.Derive[id.Subscriber]("test", name)
	}
	directory := k.directory()
	directory.Resolve = func(r telemetry.Report) telemetry.Given {
		return telemetry.Given{Subscriber: who[r.User], Subscription: id.As[id.Subscription](who[r.User])}
	}
	report := func(name, session string, kind telemetry.Kind, at, online time.Duration) telemetry.Report {
		r := k.at(kind, online, 1, 1)
		r.User, r.Session, r.At = name, session, noon.Add(at)
		return r
	}
	const went = 24 * time.Hour
	moved := report("moved", "2", telemetry.Start, went+time.Hour, 0)
	moved.Device = id.New[id.Device]()
	back := report("back and left", "2", telemetry.Stop, went+2*time.Hour, time.Hour)
	back.Calling, back.MAC = "AA:00:00:00:00:99", "AA:00:00:00:00:99"
	if _, err := k.Commit(t.Context(), directory, []telemetry.Report{
		report("lost", "1", telemetry.Interim, went, time.Hour), report("left", "1", telemetry.Stop, went, time.Hour),
		report("back and left", "1", telemetry.Interim, went, time.Hour), back,
		report("moved", "1", telemetry.Interim, went, time.Hour), moved,
		report("long before", "1", telemetry.Interim, time.Hour, time.Hour),
	}); err != nil {
		t.Fatal(err)
	}
	k.closes(t, telemetry.ReasonLost, "lost", "back and left", "moved", "long before")
	from := noon.Add(went + 4*time.Hour)
	at := telemetry.TimeAt{Device: k.device, From: from, To: from.Add(time.Hour)}
	if got := k.served(t, telemetry.ServedAt{Times: []telemetry.TimeAt{at}}, who); len(got) > 0 {
		t.Errorf("a while before: %v", got)
	}
	at.CutFrom = from.Add(-24 * time.Hour)
	got := k.served(t, telemetry.ServedAt{Times: []telemetry.TimeAt{at}}, who)
	if !slices.Equal(got, []string{"lost"}) {
		t.Errorf("a day before: %v", got)
	}
}

// TestServed_WhoIsNotBackInAShortReturnWasHitInBothTimes: a router is down for two hours, and three minutes later for
// days. Who has dialled in in between is hit the second time by the session of then, and not by the old one.
func TestServed_WhoIsNotBackInAShortReturnWasHitInBothTimes(t *testing.T) {
	t.Parallel()
	k := open(t)
	who := map[string]id.Subscriber{}
	for _, name := range []string{"lost", "back", "back and left"} {
		who[name] = id.Derive[id.Subscriber]("test", name)
	}
	directory := k.directory()
	directory.Resolve = func(r telemetry.Report) telemetry.Given {
		return telemetry.Given{Subscriber: who[r.User], Subscription: id.As[id.Subscription](who[r.User])}
	}
	var list []telemetry.Report
	report := func(name, session string, kind telemetry.Kind, at, online time.Duration) {
		r := k.at(kind, online, 1, 1)
		r.User, r.Session, r.At = name, session, noon.Add(at)
		list = append(list, r)
	}
	const again = 2*time.Hour + 3*time.Minute
	report("back", "2", telemetry.Start, again-time.Minute, 0)
	report("back and left", "2", telemetry.Start, again-2*time.Minute, 0)
	report("back and left", "2", telemetry.Stop, again-time.Minute, time.Minute)
	for name := range who {
		report(name, "1", telemetry.Interim, 0, time.Hour)
	}
	if _, err := k.Commit(t.Context(), directory, list); err != nil {
		t.Fatal(err)
	}
	k.closes(t, telemetry.ReasonLost, "lost")
	span := func(from, to time.Duration) telemetry.TimeAt {
		return telemetry.TimeAt{
			Device: k.device, From: noon.Add(from), To: noon.Add(to), CutFrom: noon.Add(-telemetry.CutWithin),
		}
	}
	rows, err := k.Served(t.Context(), k.org, telemetry.ServedAt{Times: []telemetry.TimeAt{
		span(time.Minute, 2*time.Hour), span(again, 72*time.Hour),
	}}, id.Subscriber{}, 9)
	if err != nil {
		t.Fatal(err)
	}
	got := map[id.Subscriber][]int{}
	for _, r := range rows {
		got[r.SubscriberID] = r.Times
	}
	for name, want := range map[string][]int{"lost": {0, 1}, "back": {0, 1}, "back and left": {0}} {
		if !slices.Equal(got[who[name]], want) {
			t.Errorf("%s: hit in %v, want %v", name, got[who[name]], want)
		}
	}
}

// TestHeardSince_AlsoOfSessionsThatWereClosedSince: a router without an open session was heard all the same.
func TestHeardSince_AlsoOfSessionsThatWereClosedSince(t *testing.T) {
	t.Parallel()
	k := open(t)
	r := k.at(telemetry.Interim, time.Hour, 1, 1)
	r.User, r.Session, r.At = "lost", "1", noon.Add(time.Hour)
	if _, err := k.Commit(t.Context(), k.directory(), []telemetry.Report{r}); err != nil {
		t.Fatal(err)
	}
	k.closes(t, telemetry.ReasonLost, "lost")
	ask := func(since, now time.Duration) (map[id.Device]time.Time, error) {
		return k.HeardSince(t.Context(), k.org, map[id.Device]time.Time{k.device: noon.Add(since)}, noon.Add(now))
	}
	if ahead, err := ask(0, 59*time.Minute); err != nil || len(ahead) > 0 {
		t.Errorf("heard in a time that has not come: %v (%v)", ahead, err)
	}
	for since, want := range map[time.Duration]int{59 * time.Minute: 1, time.Hour: 0} {
		heard, err := ask(since, 2*time.Hour)
		if err != nil || len(heard) != want || want > 0 && !heard[k.device].Equal(r.At) {
			t.Errorf("since %s: %v (%v)", since, heard, err)
		}
	}
}

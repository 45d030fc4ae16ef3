package telemetry_test

import (
	"cmp"
	"maps"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// The router of the newest session counts, whether it is open or not, and nobody else's.
func TestLines_AreAtTheRoutersOfTheNewestSessions(t *testing.T) {
	t.Parallel()
	k := open(t)
	first, later := k.at(telemetry.Stop, time.Hour, 5, 5), k.at(telemetry.Start, 0, 0, 0)
	first.Session = "first"
	later.Session, later.Device, later.At = "later", id.New[id.Device](), noon.Add(3*time.Hour)
	k.commit(t, first, later)
	fault := telemetry.Fault{
		Device: k.device, From: noon.Add(4 * time.Hour), Until: noon.Add(5 * time.Hour), Now: noon.Add(5 * time.Hour),
	}
	want := map[id.Subscription]telemetry.Line{
		k.subscription: {Device: k.device}, id.As[id.Subscription](later.Device): {Device: later.Device},
	}
	got, heard, err := k.Lines(t.Context(), k.org, []id.Subscriber{k.subscriber, id.New[id.Subscriber]()}, fault)
	if err != nil || !maps.Equal(got, want) || !heard.IsZero() {
		t.Errorf("lines %v, want %v, heard %v, %v", got, want, heard, err)
	}
	move := `update ` + k.schema() + `.sessions set subscription_id = $1` // now both sessions are of one subscription
	if _, err := k.db.Owner.Exec(t.Context(), move, k.subscription.UUID()); err != nil {
		t.Fatal(err)
	}
	want = map[id.Subscription]telemetry.Line{k.subscription: {Device: later.Device}}
	got, _, err = k.Lines(t.Context(), k.org, []id.Subscriber{k.subscriber}, fault)
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("lines %v, want %v, %v", got, want, err)
	}
	got, heard, err = k.Lines(t.Context(), id.New[id.Organization](), []id.Subscriber{k.subscriber}, fault)
	if err != nil || len(got) > 0 || !heard.IsZero() {
		t.Errorf("another organization sees %v, %v", got, err)
	}
}

func TestLines_WhoReportsInAFaultHasALine(t *testing.T) {
	t.Parallel()
	k := open(t)
	session := k.at(telemetry.Start, 0, 0, 0)
	k.commit(t, session, k.at(telemetry.Interim, time.Hour, 5, 5))
	for name, c := range map[string]struct {
		from, until, since time.Duration // after noon; since < 0 = no line
		heard              bool
	}{
		"before the fault":   {from: 2 * time.Hour, until: 3 * time.Hour, since: -1},
		"too soon":           {from: 57 * time.Minute, until: 3 * time.Hour, since: -1},
		"in the fault":       {from: 50 * time.Minute, until: 3 * time.Hour, since: 50 * time.Minute, heard: true},
		"began in the fault": {from: -time.Hour, until: 3 * time.Hour, since: 0, heard: true},
		"spans the fault": {
			from: 10 * time.Minute, until: 12 * time.Minute, since: 10 * time.Minute, heard: true,
		},
		"began after its end":    {from: -2 * time.Hour, until: -time.Hour, since: -1},
		"reported at its end":    {from: 58 * time.Minute, until: time.Hour, since: 58 * time.Minute, heard: true},
		"reported just too late": {from: 58 * time.Minute, until: time.Hour + time.Second, since: -1},
	} {
		fault := telemetry.Fault{
			Device: k.device, From: noon.Add(c.from), Until: noon.Add(c.until), Now: noon.Add(3 * time.Hour),
		}
		got, heard, err := k.Lines(t.Context(), k.org, []id.Subscriber{k.subscriber}, fault)
		want := telemetry.Line{Device: k.device}
		if c.since >= 0 {
			want.Since = noon.Add(c.since)
		}
		if err != nil || got[k.subscription] != want || heard.Equal(noon.Add(time.Hour)) != c.heard {
			t.Errorf("%s: %+v, want %+v, heard %v, %v", name, got[k.subscription], want, heard, err)
		}
	}
}

// A session that began or ended when the clock was ahead is no line in a later fault, and no later one than those that
// came after the clock was put right.
func TestLines_FromWhenTheClockWasAheadProveNothing(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{0, 3 * time.Hour} {
		k := open(t)
		first, over := k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Stop, 10*time.Minute, 5, 5)
		k.commitAt(t, first.At, k.directory(), []telemetry.Report{first})
		over.At = over.At.Add(ahead)
		d := k.directory()
		d.Jumps = func() []time.Duration { return []time.Duration{ahead} }
		k.commitAt(t, over.At, d, []telemetry.Report{over})
		fault := telemetry.Fault{
			Device: k.device, From: noon.Add(time.Hour), Until: noon.Add(90 * time.Minute),
			Now: noon.Add(2 * time.Hour),
		}
		lines, heard, err := k.Lines(t.Context(), k.org, []id.Subscriber{k.subscriber}, fault)
		if err != nil || lines[k.subscription] != (telemetry.Line{Device: k.device}) || !heard.IsZero() {
			t.Errorf("ahead by %s: %+v, heard %s, %v", ahead, lines[k.subscription], heard, err)
		}
		early := k.at(telemetry.Start, 0, 0, 0)
		early.Session, early.Device, early.At = "early", id.New[id.Device](), noon.Add(2*ahead-time.Hour)
		k.commitAt(t, early.At, k.directory(), []telemetry.Report{early})
		move := `update ` + k.schema() + `.sessions set subscription_id = $1`
		if _, err := k.db.Owner.Exec(t.Context(), move, k.subscription.UUID()); err != nil {
			t.Fatal(err)
		}
		if lines, _, err = k.Lines(t.Context(), k.org, []id.Subscriber{k.subscriber}, fault); err != nil ||
			lines[k.subscription].Device != k.device {
			t.Errorf("ahead by %s: the newest is of %+v, %v", ahead, lines[k.subscription], err)
		}
	}
}

func TestLines_AnAcceptedSignInIsALineOfItsRouter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, last time.Duration // of the sign-ins of the day, after noon
		code        string
		heard       time.Duration // < 0 = not
	}{
		"in the fault":           {first: 90 * time.Minute, last: 2 * time.Hour, heard: 2 * time.Hour},
		"before and in it":       {first: 0, last: 2 * time.Hour, heard: 2 * time.Hour},
		"in it and later":        {first: 2 * time.Hour, last: 5 * time.Hour, heard: 2 * time.Hour},
		"too soon":               {first: 61 * time.Minute, last: 64 * time.Minute, heard: -1},
		"after the end":          {first: 4 * time.Hour, last: 4 * time.Hour, heard: -1},
		"refused, proves little": {first: 2 * time.Hour, last: 2 * time.Hour, code: "wrong_password", heard: -1},
	} {
		k := open(t)
		signIn := telemetry.Refusal{
			OrgID: k.org, DeviceID: k.device, Code: cmp.Or(c.code, telemetry.Accepted), FirstAt: noon.Add(c.first),
			At: noon.Add(c.last), Count: 1,
		}
		if err := k.SaveRefusals(t.Context(), []telemetry.Refusal{signIn}); err != nil {
			t.Fatal(err)
		}
		_, heard, err := k.Lines(t.Context(), k.org, []id.Subscriber{k.subscriber}, telemetry.Fault{
			Device: k.device, From: noon.Add(time.Hour), Until: noon.Add(3 * time.Hour), Now: noon.Add(6 * time.Hour),
		})
		if c.heard < 0 && !heard.IsZero() || c.heard >= 0 && !heard.Equal(noon.Add(c.heard)) || err != nil {
			t.Errorf("%s: heard %v, %v", name, heard, err)
		}
		list, err := k.RefusalsAt(t.Context(), k.org, k.device, noon.Add(6*time.Hour))
		if err != nil || (len(list) > 0) != (c.code != "") {
			t.Errorf("%s: the refusals are %+v, %v", name, list, err)
		}
	}
}

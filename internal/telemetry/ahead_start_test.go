package telemetry_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// dial is a device of one customer that gets the address which another one has given back.
type dial struct {
	*kit
	his, hers netip.Addr
	days      time.Duration // from noon until she dials again
}

// newDial gives two customers each a session at noon. His ends an hour before she dials again.
func newDial(t *testing.T) dial {
	t.Helper()
	d := dial{
		kit: open(t), his: netip.MustParseAddr("100.64.0.7"), hers: netip.MustParseAddr("100.64.0.8"),
		days: 6 * 24 * time.Hour,
	}
	brian := d.report("2", telemetry.Start, noon, 0)
	brian.User, brian.MAC, brian.Calling, brian.IP = "brian", "AA:BB:CC:00:11:33", "AA:BB:CC:00:11:33", d.his
	d.startedAnew(t, noon, brian, d.report("1", telemetry.Start, noon, 0))
	brian.Kind, brian.Online = telemetry.Stop, d.days-time.Hour
	brian.At = noon.Add(brian.Online)
	d.startedAnew(t, brian.At, brian)
	return d
}

// report is one of hers: her session "1" has her address, "3" has his.
func (d dial) report(session string, kind telemetry.Kind, at time.Time, online time.Duration) telemetry.Report {
	r := d.at(kind, 0, 1, 1)
	r.Session, r.At, r.Online, r.IP = session, at, online, d.hers
	if session == "3" {
		r.IP = d.his
	}
	return r
}

// check fails when her new session did not begin when she dialled, or when she had his address before.
func (d dial) check(t *testing.T, began time.Time) {
	t.Helper()
	if got := d.named(t, "3"); !got.Ended.IsZero() || got.Started.Sub(began).Abs() > 5*time.Second {
		t.Errorf("%+v, want %s", got, began)
	}
	had := d.list(t, telemetry.SessionFilter{IP: d.his, At: noon.Add(d.days - 48*time.Hour)})
	if !slices.Equal(had, []string{"2"}) {
		t.Errorf("%s had the address two days before", had)
	}
}

// A session from when the clock was ahead makes way for the last report of the former one, and has its real start from
// its own next report on: nobody has an address before he got it.
func TestAhead_ASessionThatMadeWayBeginsWhenItsNextReportSays(t *testing.T) {
	t.Parallel()
	for _, interimFirst := range []bool{false, true} {
		d := newDial(t)
		now := noon.Add(d.days)
		d.startedAnew(t, now.Add(lead), d.report("3", telemetry.Start, now.Add(lead), 0))
		if interimFirst {
			d.putRight(t, now.Add(time.Minute), d.report("3", telemetry.Interim, now.Add(time.Minute), time.Minute))
		}
		d.putRight(t, now.Add(2*time.Minute), d.report("1", telemetry.Stop, now.Add(2*time.Minute), d.days))
		for online := 5 * time.Minute; online <= 15*time.Minute; online += 5 * time.Minute {
			d.putRight(t, now.Add(online), d.report("3", telemetry.Interim, now.Add(online), online))
		}
		d.check(t, now)
	}
}

// The program was started anew since the clock was put right, or another one hears the router now: it knows of no step.
func TestAhead_ASessionThatMadeWayCountsOnceForWhoSawNoStep(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{7 * time.Minute, lead} {
		for _, former := range []telemetry.Kind{telemetry.Stop, telemetry.Interim} {
			d := newDial(t)
			now := noon.Add(d.days)
			first := d.report("3", telemetry.Interim, now.Add(ahead+5*time.Minute), 5*time.Minute)
			first.Down = 1_000_000
			d.startedAnew(t, first.At, d.report("3", telemetry.Start, now.Add(ahead), 0), first)
			at := now.Add(6 * time.Minute)
			d.startedAnew(t, at, d.report("1", former, at, d.days+6*time.Minute))
			for online := 10 * time.Minute; online <= 20*time.Minute; online += 5 * time.Minute {
				r := d.report("3", telemetry.Interim, now.Add(online), online)
				r.Down = 1_000_000
				d.startedAnew(t, r.At, r)
			}
			d.check(t, now)
			if used := d.used(t, march(1)); used > 1_000_100 {
				t.Errorf("%s ahead, %v: %d bytes were used", ahead, former, used)
			}
		}
	}
}

// The clocks of two programs differ, and the start is told to the one that is ahead.
func TestAhead_ASessionOfAProgramThatIsAheadBeginsWhenItsNextReportSays(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{0, 4 * time.Second, 10 * time.Second, 20 * time.Second} {
		for _, last := range []telemetry.Kind{telemetry.Stop, telemetry.Interim} {
			d := newDial(t)
			now := noon.Add(d.days)
			there := now.Add(ahead)
			d.startedAnew(t, there.Add(2*time.Second), d.report("3", telemetry.Start, there.Add(2*time.Second), 0))
			d.startedAnew(t, now.Add(3*time.Second), d.report("1", last, now.Add(3*time.Second), d.days))
			for online := 5 * time.Minute; online <= 15*time.Minute; online += 5 * time.Minute {
				at := there.Add(2*time.Second + online)
				d.startedAnew(t, at, d.report("3", telemetry.Interim, at, online))
			}
			d.check(t, there)
		}
	}
}

// A restart that is committed late ends no session that began after it, where the program that heard it is a little
// ahead.
func TestAhead_ARestartEndsNoLaterSessionOfAProgramThatIsAhead(t *testing.T) {
	t.Parallel()
	k := open(t)
	start := k.at(telemetry.Start, 0, 0, 0)
	start.At = noon.Add(22 * time.Second)
	k.startedAnew(t, start.At, start)
	k.startedAnew(t, noon.Add(3*time.Second), k.restart(noon))
	if got := k.only(t); !got.Ended.IsZero() {
		t.Errorf("%+v", got)
	}
}

// Reports that have waited for a moment hold up nothing: only those that came long ago may be of the session.
func TestAhead_SessionsFromThenCloseAlsoWhileReportsWaitForAMoment(t *testing.T) {
	t.Parallel()
	k := open(t)
	then := k.at(telemetry.Start, 0, 0, 0)
	then.At = then.At.Add(lead)
	k.commit(t, then)
	now := noon.Add(20 * time.Minute)
	since := now.Add(-15 * time.Minute)
	for _, step := range []struct {
		of     time.Time
		closed int
	}{{time.Time{}, 0}, {since.Add(-2 * time.Minute), 0}, {since.Add(-time.Second), 1}} {
		silent := telemetry.Silence{Since: since}
		silent.Of = map[id.Organization]time.Time{k.org: step.of}
		n, err := k.CloseEarly(t.Context(), now, silent)
		if n != step.closed || err != nil {
			t.Errorf("%s: closed %d, %v, want %d", step.of, n, err, step.closed)
		}
	}
}

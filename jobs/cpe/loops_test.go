package cpejobs_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// oneBox is the device of the one CPE.
const oneBox = "00AABB-SN%2D1"

// on gives the ids of faults of a channel on some devices.
func on(channel string, devices ...string) (ids []string) {
	for _, device := range devices {
		ids = append(ids, device+":"+channel)
	}
	return ids
}

// sorted joins lists of ids, in the server's order.
func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return all
}

// turns gives the organization a script that the server has for an hour.
func (k polled) turns() {
	settled := k.now.Now().Add(-time.Hour)
	*k.scripts = []cpeviews.ProvisionRow{{
		ID: id.New[id.CPEProvision](), OrgID: k.row.OrgID, StoredName: "acme-turns", Version: 1,
		State: cpeviews.ProvisionInstalled, SettledAt: &settled,
	}}
	k.server.code = genieacs.LoopCode
}

// claimedAgain makes all faults of before older than the claims.
func (k polled) claimedAgain() {
	later := k.now.Now().Add(time.Minute)
	k.row.ClaimedAt = &later
	for cpe, row := range k.others {
		row.ClaimedAt = &later
		k.others[cpe] = row
	}
}

// TestPauses_CPEsWithNothingToMendHoldUpNoOther, however many there are, and though they come first.
func TestPauses_CPEsWithNothingToMendHoldUpNoOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		channel string
		old     bool
	}{
		"loops of a script":                       {channel: "acme-turns"},
		"loops of the operator's presets":         {channel: "default"},
		"operator's presets of before the claims": {channel: "default", old: true},
		"tasks of before the claims":              {channel: "task_0123456789abcdef01234567", old: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := polls(t)
			k.turns()
			many := k.more(1500)
			if c.old {
				k.server.code = "cwmp.9002"
				k.claimedAgain()
			}
			for range 3 { // each of which looks at others first
				if err := k.poll(sorted(on(c.channel, many...), has("lastmile-leaving"))...); err != nil {
					t.Fatal(err)
				}
				if got := k.cleared(); !slices.Equal(got, []string{"lastmile-leaving"}) {
					t.Errorf("cleared %v", got)
				}
			}
		})
	}
}

// TestPauses_TheSameCPEsDoNotComeFirstAtEachReading: the server refuses
// to do anything about more than one reading mends.
func TestPauses_TheSameCPEsDoNotComeFirstAtEachReading(t *testing.T) {
	t.Parallel()
	k := polls(t)
	k.turns()
	many := k.more(600)
	last := *k.row
	for _, row := range k.others {
		if row.ID.String() > last.ID.String() {
			last = row
		}
	}
	k.server.answers = map[string]int{oneBox: http.StatusNotFound}
	for _, device := range many {
		k.server.answers[device] = http.StatusNotFound
	}
	device := last.OUI + "-" + strings.ReplaceAll(last.SerialNumber, "-", "%2D")
	delete(k.server.answers, device)
	for n := range 10 {
		k.server.ids = on("lastmile-leaving", sorted(many, []string{oneBox})...)
		cause := jobs.Cause{JobID: id.Derive[id.Any]("test", "reading", string(rune('a'+n)))}
		if err := k.read(cause); err == nil {
			t.Fatal("nothing was refused")
		}
		if len(k.cleared()) > 0 {
			return
		}
	}
	t.Error("it never came to its turn")
}

// TestPauses_OneThatFailsHoldsUpNoOther: devices at whose faults the server breaks off, refuses, or fails.
func TestPauses_OneThatFailsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		k := polls(t)
		k.turns()
		many := k.more(40)
		if old {
			k.claimedAgain()
		}
		k.server.answers = map[string]int{many[0]: 0, many[1]: 404, many[2]: 500, many[3]: 503}
		err := k.poll(on("lastmile-leaving", many...)...)
		for _, device := range many[:3] {
			if err == nil || !strings.Contains(err.Error(), device+":lastmile-leaving") {
				t.Errorf("of %s: %v", device, err)
			}
		}
		if got := k.cleared(); len(got) != 36 {
			t.Errorf("before the claims %v: cleared %d", old, len(got))
		}
	}
}

// TestPauses_ManyFailuresAreToldInFewWords: the first ones, and how many.
func TestPauses_ManyFailuresAreToldInFewWords(t *testing.T) {
	t.Parallel()
	k := polls(t)
	k.turns()
	many := k.more(40)
	k.server.answers = map[string]int{}
	for _, device := range many {
		k.server.answers[device] = 404
	}
	err := k.poll(on("lastmile-leaving", many...)...)
	if err == nil || strings.Count(err.Error(), "lastmile-leaving") != 5 ||
		!strings.Contains(err.Error(), "and 35 more") {
		t.Errorf("failed with %v", err)
	}
}

// TestPauses_AServerThatIsAwayIsNotAskedForEachDevice: the first call that it does not answer ends the work, and it is
// asked whether it answers at all.
func TestPauses_AServerThatIsAwayIsNotAskedForEachDevice(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		k := polls(t)
		k.turns()
		many := k.more(40)
		if old {
			k.claimedAgain()
		}
		k.server.away = true
		err := k.poll(on("lastmile-leaving", many...)...)
		if calls := k.server.clearings(); !genieacs.Unreachable(err) || calls != 2 {
			t.Errorf("before the claims %v: %d calls (%v)", old, calls, err)
		}
	}
}

// TestPauses_AFaultThatNobodyHasSeenStays: one that the server has noted after the reading, in the place of another.
func TestPauses_AFaultThatNobodyHasSeenStays(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		k := polls(t)
		k.turns()
		if old {
			k.claimedAgain()
		}
		k.server.before = func() { k.server.at = k.server.at.Add(time.Second) }
		if err := k.poll(has("lastmile-leaving")...); err != nil {
			t.Fatal(err)
		}
		if got := k.cleared(); len(got) > 0 {
			t.Errorf("before the claim %v: cleared %v", old, got)
		}
	}
}

// TestPauses_ABrokenDeviceTakesNoScriptFromTheOthers: three must show that a script never comes to rest, or all on
// which it runs where there are fewer. Ours go on in any case.
func TestPauses_ABrokenDeviceTakesNoScriptFromTheOthers(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		all, loop int
		settled   time.Duration // so long ago; an hour when 0
		called    time.Duration // so long ago the others have called last
		refused   bool
	}{
		"the only one":                           {all: 1, loop: 1, refused: true},
		"one of two":                             {all: 2, loop: 1},
		"both":                                   {all: 2, loop: 2, refused: true},
		"one of two, the other is about to call": {all: 2, loop: 1, called: 23 * time.Hour},
		"one of two, the other is away":          {all: 2, loop: 1, called: 25 * time.Hour, refused: true},
		"one of two, the other went after":       {all: 2, loop: 1, settled: 9 * day, called: 8 * day},
		"one of two, the other went before":      {all: 2, loop: 1, settled: 8 * day, called: 9 * day, refused: true},
		"two of three":                           {all: 3, loop: 2},
		"two of three, though the third is away": {all: 3, loop: 2, called: 9 * day},
		"all three":                              {all: 3, loop: 3, refused: true},
		"one of many":                            {all: 40, loop: 1},
		"two of many":                            {all: 40, loop: 2},
		"three of many":                          {all: 40, loop: 3, refused: true},
		"all of more than are looked at":         {all: 600, loop: 600, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := polls(t)
			k.turns()
			if c.settled > 0 {
				settled := k.now.Now().Add(-c.settled)
				(*k.scripts)[0].SettledAt = &settled
			}
			devices := append(k.more(c.all-1), oneBox)
			for _, row := range k.others {
				k.Informs.HeardAt(row.ID, row.OrgID, k.now.Now().Add(-c.called))
			}
			loop := devices[len(devices)-c.loop:]
			if err := k.poll(sorted(on("acme-turns", loop...), on("lastmile-leaving", loop...))...); err != nil {
				t.Fatal(err)
			}
			if got := *k.refused; c.refused != slices.Equal(got, []string{"acme-turns"}) || !c.refused && len(got) > 0 {
				t.Errorf("refused %v", got)
			}
			if got := k.cleared(); len(got) != min(c.loop, 500) || slices.Contains(got, "acme-turns") {
				t.Errorf("cleared %v", got)
			}
		})
	}
}

// TestPauses_DevicesCountWhileTheScriptWaitsOnThem: they need not be seen in one reading. One on which the script came
// to rest does not count any more, and none counts for another version.
func TestPauses_DevicesCountWhileTheScriptWaitsOnThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rests, writes, leaves bool
		back                  bool // the fault of the one that came to rest is there again, and nobody knows by whom
		refused               bool
	}{
		"all three":                       {refused: true},
		"one has come to rest":            {rests: true},
		"one has rested in between":       {rests: true, back: true},
		"one is another organization's":   {leaves: true},
		"two have run the version before": {writes: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := polls(t)
			k.turns()
			devices := append(k.more(9), oneBox)
			waits := []string{}
			for n, device := range devices[7:] {
				k.now.Advance(10 * time.Minute)
				k.server.at = k.now.Now()
				if waits = append(waits, device); n == 2 && c.rests {
					waits = waits[1:]
				}
				if n == 2 && c.writes {
					settled := k.now.Now().Add(-5 * time.Minute)
					(*k.scripts)[0].Version, (*k.scripts)[0].SettledAt = 2, &settled
				}
				if n == 2 && c.leaves {
					for cpe, row := range k.others {
						if strings.HasSuffix(devices[7], row.SerialNumber) {
							claimed := k.now.Now().Add(-time.Minute)
							row.OrgID, row.ClaimedAt = id.New[id.Organization](), &claimed
							k.others[cpe] = row
						}
					}
				}
				if n == 2 && c.back {
					if err := k.poll(on("acme-turns", waits[0])...); err != nil {
						t.Fatal(err)
					}
					waits = append(waits, devices[7])
				}
				if err := k.poll(sorted(on("acme-turns", waits...), on("lastmile-leaving", device))...); err != nil {
					t.Fatal(err)
				}
				if got := k.cleared(); !slices.Equal(got, []string{"lastmile-leaving"}) {
					t.Errorf("cleared %v", got)
				}
				if got := *k.refused; (n == 2 && c.refused) != (len(got) > 0) {
					t.Errorf("refused %v after %d", got, n+1)
				}
			}
		})
	}
}

// TestPauses_ARefusalThatFailsIsMadeAtTheNextReading, and holds nothing up meanwhile. One that was made is not repeated
// for what was seen before it.
func TestPauses_ARefusalThatFailsIsMadeAtTheNextReading(t *testing.T) {
	t.Parallel()
	k := polls(t)
	k.turns()
	failing, tries := errors.New("the log is away"), 0
	k.Pauses.Refuse = func(_ context.Context, row cpeviews.ProvisionRow, _ jobs.Cause) error {
		if tries++; tries == 1 {
			return failing
		}
		now := k.now.Now()
		row.State, row.ErrorCode, row.SettledAt = cpeviews.ProvisionRefused, null.Of(genieacs.LoopCode), &now
		*k.scripts = []cpeviews.ProvisionRow{row}
		return nil
	}
	if err := k.poll(has("acme-turns", "lastmile-leaving")...); !errors.Is(err, failing) {
		t.Errorf("failed with %v", err)
	}
	if got := k.cleared(); !slices.Equal(got, []string{"lastmile-leaving"}) {
		t.Errorf("cleared %v", got)
	}
	for want := range 2 {
		k.now.Advance(time.Minute)
		if err := k.poll(has("acme-turns")...); err != nil || tries != 2 {
			t.Errorf("%d: %d tries (%v)", want, tries, err)
		}
	}
}

// TestPauses_FaultsThatAreClearedInPartProveNothing: of a session in which one of ours asked the platform some faults
// are left, because the device was met in another session, or somebody has cleared that one by hand.
func TestPauses_FaultsThatAreClearedInPartProveNothing(t *testing.T) {
	t.Parallel()
	for _, channel := range []string{"lastmile-bootstrap", "lastmile-sign-in"} {
		for name, clear := range map[string]func(k polled) error{
			"by a reading": func(polled) error { return nil },
			"by hand": func(k polled) error {
				list, err := k.List(t.Context(), k.row.OrgID, id.CPE{}, cpeviews.FaultKey{}, 10)
				for _, row := range list {
					if row.Channel == channel {
						err = errors.Join(err, k.Clear(t.Context(), row))
					}
				}
				return err
			},
		} {
			k := polls(t)
			k.turns()
			k.server.answers = map[string]int{box + "lastmile-leaving": http.StatusServiceUnavailable}
			if name == "by hand" {
				k.server.answers[box+channel] = http.StatusServiceUnavailable
			}
			err := k.poll(has(channel, "lastmile-health", "lastmile-leaving", "acme-turns")...)
			delete(k.server.answers, box+channel)
			if err = errors.Join(err, clear(k)); err != nil {
				t.Fatal(err)
			}
			if got := k.cleared(); !slices.Equal(got, sorted([]string{channel}, []string{"lastmile-health"})) {
				t.Fatalf("%s: cleared %v", name, got)
			}
			for range 2 {
				k.now.Advance(time.Minute)
				if err := k.read(jobs.Cause{JobID: id.New[id.Any]()}); err != nil {
					t.Fatal(err)
				}
				if got := *k.refused; len(got) > 0 {
					t.Fatalf("%s, %s: refused %v", channel, name, got)
				}
			}
			k.now.Advance(time.Hour)
			k.server.at, k.server.answers = k.now.Now(), nil // another session, in which none of ours asks
			if err := k.poll(has("lastmile-leaving", "acme-turns")...); err != nil {
				t.Fatal(err)
			}
			if got := *k.refused; !slices.Equal(got, []string{"acme-turns"}) {
				t.Errorf("%s, %s: afterwards refused %v", channel, name, got)
			}
		}
	}
}

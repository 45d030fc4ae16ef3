package accessjobs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access"
)

// TestFollowFault_AClockThatWasStoppedWhileAClockWasAheadGoesOn: the outage began 30 days ahead, and ended when the
// machine's clock was right.
func TestFollowFault_AClockThatWasStoppedWhileAClockWasAheadGoesOn(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	s := k.owing(t, "amina", -time.Hour, id.Device{})
	k.clock.Set(start.AddDate(0, 0, 30))
	k.away = k.clock.Now().Add(-6 * time.Minute)
	from := k.watch(t, "begins")
	job := commands.FollowFault{OrgID: k.org, Cause: fmt.Sprint("no_payment:", from.Unix()), From: from}
	k.follow(t, job, "round")
	if d := k.dunning(t, s); len(d.Stopped) != 1 {
		t.Fatalf("stopped by %v", d.Stopped)
	}
	k.clock.Set(start.Add(time.Hour))
	k.away = time.Time{}
	if still := k.watch(t, "ends"); !still.IsZero() {
		t.Fatalf("the outage lasts since %s", still)
	}
	job.Until = from // as the log had it that nothing has put right
	k.follow(t, job, "end")
	if d := k.dunning(t, s); len(d.Stopped) > 0 || d.Pauses[0].Until.After(k.clock.Now()) {
		t.Errorf("stopped by %v, paused %v", d.Stopped, d.Pauses)
	}
}

// TestFollowFault_ARouterThatWentAwayWhileAClockWasAhead stops the clock of who comes to owe later, from then on.
func TestFollowFault_ARouterThatWentAwayWhileAClockWasAhead(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	tower := id.New[id.Device]()
	s := k.owing(t, "amina", 5*time.Minute, tower)
	job := commands.FollowFault{
		OrgID: k.org, Cause: "no_line:x:1", DeviceID: tower, From: start.Add(3 * time.Hour),
	}
	k.follow(t, job, "round")
	if d := k.dunning(t, s); !d.Stopped[job.Cause].Equal(start) {
		t.Errorf("stopped %v", d.Stopped)
	}
	k.clock.Advance(time.Hour)
	job.Until = k.clock.Now()
	k.follow(t, job, "end")
	if d := k.dunning(t, s); len(d.Stopped) > 0 || d.Pauses[0].Until.Sub(d.Pauses[0].From) != time.Hour {
		t.Errorf("stopped by %v, paused %v", d.Stopped, d.Pauses)
	}
}

// TestFollowFault_AFaultThatIsDatedAheadIsNoShorter: it was over before the clock was put right.
func TestFollowFault_AFaultThatIsDatedAheadIsNoShorter(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	s := k.owing(t, "amina", -5*time.Hour, id.Device{})
	ahead := start.AddDate(0, 0, 12)
	k.follow(t, commands.FollowFault{
		OrgID: k.org, Cause: "no_payment:platform:1", From: ahead, Until: ahead.Add(2 * time.Hour),
	}, "end")
	if d := k.dunning(t, s); len(d.Stopped) > 0 || len(d.Pauses) != 1 ||
		!d.Pauses[0].From.Equal(start.Add(-2*time.Hour)) || !d.Pauses[0].Until.Equal(start) {
		t.Errorf("stopped by %v, paused %v", d.Stopped, d.Pauses)
	}
}

// TestWatchPayments_AnOutageOfAClockThatWasAheadBeginsAnewInItsPlace: it lasts when the clock is put right.
func TestWatchPayments_AnOutageOfAClockThatWasAheadBeginsAnewInItsPlace(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	k.clock.Set(start.Add(12 * 24 * time.Hour))
	k.away = k.clock.Now().Add(-6 * time.Minute)
	k.watch(t, "begins")
	k.clock.Set(start)
	k.away = start.Add(-6 * time.Minute)
	for _, run := range []string{"put right", "later"} {
		if from := k.watch(t, run); !from.Equal(k.away) {
			t.Errorf("%s: customers cannot pay since %s, want %s", run, from, k.away)
		}
		k.clock.Advance(time.Hour)
	}
}

// TestWatchPayments_AnOutageAfterTheClockWasAheadIsNotHidden by one whose end is dated ahead.
func TestWatchPayments_AnOutageAfterTheClockWasAheadIsNotHidden(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	for n, ahead := range []time.Duration{366 * 24 * time.Hour, 0, 10 * 24 * time.Hour} {
		k.clock.Set(start.Add(ahead))
		k.away = k.clock.Now().Add(-30 * time.Minute)
		if from := k.watch(t, fmt.Sprint("begins", n)); !from.Equal(k.away) {
			t.Errorf("the provider is away since %s, and the log says %s", k.away, from)
		}
		k.away = time.Time{}
		k.clock.Advance(time.Minute)
		k.watch(t, fmt.Sprint("ends", n))
	}
}

// TestWatchPayments_AClockThatIsStoppedFromTheFutureIsStoppedFromNow, for as long as the fault still lasts.
func TestWatchPayments_AClockThatIsStoppedFromTheFutureIsStoppedFromNow(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	tower := id.New[id.Device]()
	s := k.owing(t, "amina", -time.Hour, tower)
	k.clock.Set(start.AddDate(0, 0, 12))
	job := commands.FollowFault{OrgID: k.org, Cause: "no_line:x:1", DeviceID: tower, From: k.clock.Now()}
	k.follow(t, job, "round")
	k.clock.Set(start)
	for _, run := range []string{"put right", "later"} {
		k.WaitForAll(t, k.views, accessviews.DunningName)
		k.watch(t, run)
		k.clock.Advance(time.Hour)
	}
	job.Until = start.Add(time.Hour)
	k.follow(t, job, "end")
	if d := k.dunning(t, s); len(d.Stopped) > 0 || len(d.Pauses) != 1 ||
		!d.Pauses[0].From.Equal(start) || !d.Pauses[0].Until.Equal(job.Until) {
		t.Errorf("stopped by %v, paused %v", d.Stopped, d.Pauses)
	}
}

// TestWatchPayments_ReadersAreToldOfAStopThatSomethingElseHasDatedBack: a promise is noted for the customer when the
// clock is right again, before the round of the watch.
func TestWatchPayments_ReadersAreToldOfAStopThatSomethingElseHasDatedBack(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	tower := id.New[id.Device]()
	s := k.owing(t, "amina", -time.Hour, tower)
	k.clock.Set(start.AddDate(0, 0, 12))
	k.follow(t, commands.FollowFault{OrgID: k.org, Cause: "no_line:x:1", DeviceID: tower, From: k.clock.Now()}, "round")
	k.clock.Set(start)
	hold := commands.PlaceHold{Subject: s, Until: start.Add(48 * time.Hour), Reason: "in hospital"}
	k.Run(t, coretest.Operator(k.org), hold)
	k.WaitForAll(t, k.views, accessviews.DunningName)
	k.clock.Advance(time.Minute)
	k.watch(t, "put right")
	k.WaitForAll(t, k.views, accessviews.DunningName)
	q := accessviews.DunningQuery{Views: k.views}
	row, err := q.Get(t.Context(), k.org, s.SubscriptionID)
	if err != nil || row == nil || !row.StoppedFrom.Equal(start) {
		t.Errorf("stopped from %+v: %v", row, err)
	}
	rows, err := q.Misplaced(t.Context(), k.org, k.clock.Now(), start, 10)
	if len(rows) > 0 || err != nil {
		t.Errorf("still misplaced: %+v, %v", rows, err)
	}
}

// TestWatchPayments_AClockThatIsStoppedForLongerThanAnyFaultGoesOn: whatever was to start it did not. A cause that is
// no fault lasts for as long as it lasts.
func TestWatchPayments_AClockThatIsStoppedForLongerThanAnyFaultGoesOn(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	s := k.owing(t, "amina", -time.Hour, id.Device{})
	for _, cause := range []string{"no_payment:1", "no_line:x:1", "of_another_kind"} {
		k.Run(t, coretest.Operator(k.org), commands.StopClock{Subject: s, Cause: cause, From: start})
	}
	k.clock.Advance(commands.LongestFault + 26*time.Hour)
	k.WaitForAll(t, k.views, accessviews.DunningName)
	k.watch(t, "the jobs may still be on their way")
	if d := k.dunning(t, s); len(d.Stopped) != 3 {
		t.Errorf("stopped by %v", d.Stopped)
	}
	k.clock.Advance(22 * time.Hour)
	k.watch(t, "they are not")
	d := k.dunning(t, s)
	if len(d.Stopped) != 1 || len(d.Pauses) != 2 {
		t.Fatalf("stopped by %v, paused %v", d.Stopped, d.Pauses)
	}
	for _, p := range d.Pauses {
		if !p.From.Equal(start) || !p.Until.Equal(start.Add(commands.LongestFault)) {
			t.Errorf("paused %v", p)
		}
	}
}

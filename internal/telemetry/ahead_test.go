package telemetry_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// lead is by how much the clock was ahead before it was put right, to some minutes after noon.
const lead = 3 * time.Hour

// putRight commits reports at an instant of a program whose clock was put back.
func (k *kit) putRight(t *testing.T, now time.Time, reports ...telemetry.Report) telemetry.Committed {
	t.Helper()
	d := k.directory()
	d.Jumps = func() []time.Duration { return []time.Duration{-lead} }
	return k.commitAt(t, now, d, reports)
}

// startedAnew does the same by a program that was started since, so that it has not seen the step.
func (k *kit) startedAnew(t *testing.T, now time.Time, reports ...telemetry.Report) telemetry.Committed {
	t.Helper()
	return k.commitAt(t, now, k.directory(), reports)
}

// commitAt commits reports at an instant.
func (k *kit) commitAt(
	t *testing.T, now time.Time, d telemetry.Directory, reports []telemetry.Report,
) telemetry.Committed {
	t.Helper()
	d.Now = func() time.Time { return now }
	done, err := k.Commit(t.Context(), d, reports)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// restart is a report of the kit's router that it began to account.
func (k *kit) restart(at time.Time) telemetry.Report {
	return telemetry.Report{Kind: telemetry.On, Org: k.org, Device: k.device, At: at}
}

// named finds a session of the kit's router by its key.
func (k *kit) named(t *testing.T, key string) row {
	t.Helper()
	for _, one := range k.rows(t.Context(), t, k.device) {
		if one.Key == key {
			return one
		}
	}
	t.Fatalf("no session %s", key)
	return row{}
}

// TestAhead_ARestartFromThenEndsNoSessionOfLater, neither at once nor when the clock shows that instant again.
func TestAhead_ARestartFromThenEndsNoSessionOfLater(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.putRight(t, noon.Add(lead), k.restart(noon.Add(lead)))
	for after := 5 * time.Minute; after <= lead; after += 35 * time.Minute {
		r := k.at(telemetry.Interim, after, 1, 1)
		k.putRight(t, r.At, r)
		if got := k.only(t); !got.Ended.IsZero() {
			t.Errorf("%s after its start it is ended: %s", after, got.Reason)
		}
	}
	k.putRight(t, noon.Add(lead), k.at(telemetry.Interim, lead-10*time.Second, 2, 2))
	if got := k.only(t); !got.Ended.IsZero() {
		t.Errorf("when the clock shows the restart again it is ended: %s", got.Reason)
	}
	last := noon.Add(lead + time.Minute)
	k.putRight(t, last, k.restart(last))
	if got := k.only(t); got.Reason != telemetry.ReasonRestarted {
		t.Errorf("after a restart of now: %+v", got)
	}
}

// TestAhead_ASessionFromThenReplacesNoneOfLater, whether the router has reported its end or not. It is kept as one that
// was over before the later one began, with the instants that it has when it was over by a report already.
func TestAhead_ASessionFromThenReplacesNoneOfLater(t *testing.T) {
	t.Parallel()
	for _, stopped := range []bool{true, false} {
		k := open(t)
		first, then := k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Interim, 2*time.Minute, 10, 10)
		if stopped {
			then.Kind = telemetry.Stop
		}
		first.At, then.At = first.At.Add(lead), then.At.Add(lead)
		k.putRight(t, then.At, first, then)
		for after := time.Duration(0); after < lead; after += 15 * time.Minute {
			r := k.at(telemetry.Interim, after, 1, 1)
			if after == 0 {
				r = k.at(telemetry.Start, 0, 0, 0)
			}
			r.Session, r.At = "81000002", r.At.Add(10*time.Minute)
			k.putRight(t, r.At, r)
			if got := k.named(t, "81000002"); !got.Ended.IsZero() {
				t.Errorf("%s after its start the session of now is ended: %s", after, got.Reason)
			}
		}
		former := k.named(t, "81000001")
		if former.Ended.IsZero() || former.Ended.After(noon.Add(10*time.Minute)) != stopped ||
			stopped && !former.Ended.Equal(then.At) || former.Ended.Sub(former.Started) != 2*time.Minute {
			t.Errorf("stopped %v: the former session is %+v", stopped, former)
		}
		third := k.at(telemetry.Start, 0, 0, 0)
		third.Session, third.At = "81000003", noon.Add(lead-time.Minute)
		k.putRight(t, third.At, third)
		if got := k.named(t, "81000002"); got.Reason != telemetry.ReasonReplaced {
			t.Errorf("another session of now replaces it: %+v", got)
		}
	}
}

// TestAhead_AClockThatIsBehindMovesNothingThatIsOver: all that has really happened is still to come by it, and nothing
// would put the history right again. It is as good a history after many reports.
func TestAhead_AClockThatIsBehindMovesNothingThatIsOver(t *testing.T) {
	t.Parallel()
	k := open(t)
	keys := []string{"81000001", "81000002", "81000003"}
	for day, key := range keys {
		first, over := k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Stop, time.Hour, 50, 50)
		first.Session, over.Session = key, key
		first.At, over.At = first.At.AddDate(0, 0, day), over.At.AddDate(0, 0, day)
		k.startedAnew(t, over.At, first, over)
	}
	behind := noon.AddDate(-1, 0, 0)
	for after := time.Duration(0); after <= 15*time.Minute; after += 5 * time.Minute {
		for _, key := range []string{"81000001", "81000004"} { // the router uses a name again
			r := k.at(telemetry.Interim, after, uint64(after/time.Second), 1)
			if after == 0 {
				r = k.at(telemetry.Start, 0, 0, 0)
			}
			r.Session, r.At = key, behind.Add(after)
			k.startedAnew(t, r.At, r)
		}
	}
	kept := 0
	for _, got := range k.rows(t.Context(), t, k.device) {
		day := slices.Index(keys, got.Key)
		if day < 0 || got.Started.Before(noon) {
			continue
		}
		kept++
		if start := noon.AddDate(0, 0, day); !got.Started.Equal(start) || !got.Ended.Equal(start.Add(time.Hour)) {
			t.Errorf("%+v", got)
		}
	}
	if kept != len(keys) {
		t.Errorf("%d of %d sessions are where they were", kept, len(keys))
	}
}

// TestAhead_AClockThatIsBehindForgetsNoRestart: a report that is late when it is right again opens nothing.
func TestAhead_AClockThatIsBehindForgetsNoRestart(t *testing.T) {
	t.Parallel()
	k := open(t)
	late := k.at(telemetry.Interim, 2*time.Minute, 2, 2)
	k.startedAnew(t, noon.Add(5*time.Minute), k.at(telemetry.Start, 0, 0, 0), k.restart(noon.Add(5*time.Minute)))
	r := k.at(telemetry.Start, 0, 0, 0)
	r.Session, r.At = "81000002", noon.AddDate(-1, 0, 0)
	k.startedAnew(t, r.At, r)
	k.startedAnew(t, noon.Add(10*time.Minute), late)
	if got := k.named(t, late.Session); got.Reason != telemetry.ReasonRestarted {
		t.Errorf("%+v", got)
	}
}

// TestAhead_ASessionThatGoesOnBeganWhenItTellsNow, so that it is in order with others, and its use counts once. A later
// step of the clock is met as ever, and so is a report from before.
func TestAhead_ASessionThatGoesOnBeganWhenItTellsNow(t *testing.T) {
	t.Parallel()
	for _, commit := range []func(*kit, *testing.T, time.Time, ...telemetry.Report) telemetry.Committed{
		(*kit).putRight, (*kit).startedAnew,
	} {
		k := open(t)
		early := k.at(telemetry.Interim, 10*time.Minute, 10, 10)
		early.At = early.At.Add(lead)
		commit(k, t, early.At, early)
		for after := 15 * time.Minute; after <= 25*time.Minute; after += 5 * time.Minute {
			r := k.at(telemetry.Interim, after, uint64(after/time.Minute), 10)
			commit(k, t, r.At, r)
		}
		commit(k, t, noon.Add(25*time.Minute), early)
		if got := k.only(t); !got.Started.Equal(noon) || !got.Ended.IsZero() || got.Down != 25 {
			t.Errorf("%+v", got)
		}
		back := k.at(telemetry.Stop, 30*time.Minute, 30, 30)
		back.At = back.At.Add(-lead)
		k.putRight(t, back.At, back)
		if got := k.only(t); got.Down != 30 || got.Ended.IsZero() {
			t.Errorf("%+v", got)
		}
	}
}

// TestAhead_ReportsOfTheSpoolFromThenAreInOrder: they are committed when the clock is right again.
func TestAhead_ReportsOfTheSpoolFromThenAreInOrder(t *testing.T) {
	t.Parallel()
	k := open(t)
	before := k.at(telemetry.Start, 0, 0, 0)
	k.commit(t, before)
	r := k.at(telemetry.Start, 0, 0, 0)
	r.Session, r.At = "81000002", noon.Add(lead)
	k.putRight(t, noon.Add(5*time.Minute), r)
	a, b := k.named(t, "81000001"), k.named(t, "81000002")
	if a.Reason != telemetry.ReasonReplaced || !b.Ended.IsZero() {
		t.Errorf("%+v, %+v", a, b)
	}
	k.putRight(t, noon.Add(6*time.Minute), k.restart(noon.Add(lead+time.Minute)))
	if got := k.named(t, "81000002"); got.Reason != telemetry.ReasonRestarted {
		t.Errorf("%+v", got)
	}
}

// TestAhead_TwoDevicesAreNotLetInByOneLogin after a restart from then.
func TestAhead_TwoDevicesAreNotLetInByOneLogin(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{false, true} {
		c := open(t).live(t)
		if early {
			c.watch.Set(noon.Add(lead))
			c.Observe(c.putRight(t, noon.Add(lead), c.restart(noon.Add(lead))))
			c.watch.Set(noon)
		}
		for phone, key := range []string{"one", "two"} {
			after := time.Duration(phone) * 5 * time.Minute
			c.enter(phone, after, 1, false)
			r := c.at(telemetry.Start, after, 0, 0)
			r.Session, r.MAC, r.Calling = key, phones[phone], phones[phone]
			c.Observe(c.putRight(t, r.At, r))
		}
		c.want(t, "one")
		c.watch.Set(noon.Add(10 * time.Minute))
		c.Observe(c.putRight(t, c.watch.Now(), c.restart(c.watch.Now())))
		if c.Has(c.subscription, phones[1]) {
			t.Error("a session goes on after a restart of now")
		}
	}
}

// TestAhead_ALookFromThenHidesNoLaterOne: neither a router that does not answer now, nor that one is seen again.
func TestAhead_ALookFromThenHidesNoLaterOne(t *testing.T) {
	t.Parallel()
	const dead = "router_unreachable"
	for then, now := range map[string]string{"": dead, dead: ""} {
		k := open(t)
		for _, look := range []struct {
			at  time.Time
			why string
		}{{noon.Add(lead), ""}, {noon.Add(lead + time.Minute), then}, {noon, now}} {
			if err := k.KeepLook(t.Context(), k.org, k.device, look.at, look.why); err != nil {
				t.Fatal(err)
			}
		}
		all, err := k.Looks(t.Context(), k.org)
		if err != nil {
			t.Fatal(err)
		}
		got := all[k.device]
		if got.Why != now || !got.LookedAt.Equal(noon) || now != "" && !got.UnseenSince.Equal(noon) {
			t.Errorf("%q, and now %q: %q, looked at %v, unseen since %v", then, now, got.Why, got.LookedAt,
				got.UnseenSince)
		}
	}
}

// TestAhead_ASpoolFromThenIsBehindAllTheSame: nobody may take the tables for complete.
func TestAhead_ASpoolFromThenIsBehindAllTheSame(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	watch := clock.NewManual(noon.Add(lead))
	recorder := telemetry.NewRecorder(telemetry.Config{
		Store: k.away(t), Directory: k.directory(), SpoolDir: t.TempDir(), Clock: watch,
	})
	if err := recorder.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(recorder.Stop)
	keeper := telemetry.NewKeeper(telemetry.KeeperConfig{
		Store: k.Store, Recorder: recorder, Clock: watch, LostAfter: 15 * time.Minute,
	})
	if n := record(recorder, k.at(telemetry.Interim, lead, 1, 1)); n != 1 || !recorder.Spooled() {
		t.Fatal("nothing is spooled")
	}
	watch.Set(noon.Add(10 * time.Minute))
	round(t, keeper)
	watch.Advance(20 * time.Minute)
	if got := recorder.Status(); got.Behind != 20*time.Minute {
		t.Errorf("reports have waited for 20 minutes, and it is behind by %s", got.Behind)
	}
	round(t, keeper)
	if got := k.only(t); got.Reason != "" {
		t.Errorf("closed as %q although its report is spooled", got.Reason)
	}
}

// TestAhead_ASessionFromThenOfWhichNothingIsHeardIsLost as soon as any other one would be, and goes on when it is
// heard.
func TestAhead_ASessionFromThenOfWhichNothingIsHeardIsLost(t *testing.T) {
	t.Parallel()
	k := open(t)
	early := k.at(telemetry.Interim, 2*time.Minute, 2, 2)
	early.At = early.At.Add(lead)
	k.putRight(t, early.At, early)
	watch := clock.NewManual(early.At)
	recorder := telemetry.NewRecorder(telemetry.Config{
		Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir(), Clock: watch,
	})
	if err := recorder.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(recorder.Stop)
	keeper := telemetry.NewKeeper(telemetry.KeeperConfig{
		Store: k.Store, Recorder: recorder, Clock: watch, LostAfter: 15 * time.Minute,
	})
	for after, want := range []string{"", "", telemetry.ReasonLost} {
		watch.Set(noon.Add(time.Duration(after) * 10 * time.Minute))
		round(t, keeper)
		if got := k.only(t); got.Reason != want || want != "" && !got.Ended.Before(watch.Now()) {
			t.Errorf("%d0 minutes after noon: %+v", after, got)
		}
	}
	k.putRight(t, noon.Add(25*time.Minute), k.at(telemetry.Interim, 25*time.Minute, 25, 25))
	if got := k.only(t); !got.Ended.IsZero() || got.Down != 25 {
		t.Errorf("heard again: %+v", got)
	}
}

// TestAhead_ARefusalFromThenIsNotTheLatestOne for longer than until the next one.
func TestAhead_ARefusalFromThenIsNotTheLatestOne(t *testing.T) {
	t.Parallel()
	k := open(t)
	for _, at := range []time.Time{noon.Add(lead), noon.Add(5 * time.Minute), noon.Add(4 * time.Minute)} {
		if err := k.SaveRefusals(t.Context(), []telemetry.Refusal{{
			OrgID: k.org, SubscriberID: k.subscriber, SubscriptionID: k.subscription, DeviceID: k.device,
			Code: "unpaid", FirstAt: at, At: at, Count: 1,
		}}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := k.RefusalsOf(t.Context(), k.org, k.subscriber, noon.Add(time.Hour))
	if err != nil || len(got) != 1 || !got[0].At.Equal(noon.Add(5*time.Minute)) || got[0].Count != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAhead_TheLimitKeepsTheSessionOfNow, and ends the one from then: of two devices, and of one that has dialed at
// another router.
func TestAhead_TheLimitKeepsTheSessionOfNow(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{0, lead} {
		for _, phone := range phones[:2] {
			far, at := id.New[id.Device](), noon.Add(10*time.Minute)
			c := open(t).liveAt(t, at)
			c.limit.Store(1)
			then, now := c.of(far, "then", phone, phone), c.of(c.device, "now", phones[0], phones[0])
			for _, told := range []struct {
				at     time.Time
				report telemetry.Report
			}{
				{noon.Add(ahead), then(telemetry.Start, ahead, 0)},
				{at, now(telemetry.Start, 10*time.Minute, 0)},
			} {
				d := c.told()
				d.Now = func() time.Time { return told.at }
				c.Observe(c.commitAt(t, told.at, d, []telemetry.Report{told.report}))
			}
			c.want(t, "then")
			list, err := c.Beyond(t.Context(), telemetry.Limited{
				SubscriberID: c.subscriber, SubscriptionID: c.subscription, Limit: 1, Now: at,
			})
			if err != nil || len(list) != 1 || list[0].SessionKey != "then" {
				t.Errorf("ahead by %s, %s: beyond a limit of one are %+v, %v", ahead, phone, list, err)
			}
		}
	}
}

// TestAhead_ASignInTakesThePlaceOfADeviceFromThen, not of one that began later.
func TestAhead_ASignInTakesThePlaceOfADeviceFromThen(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{0, lead} {
		c := open(t).live(t)
		c.tell(t, 0, "then", telemetry.Start, ahead, 0)
		c.tell(t, 1, "now", telemetry.Start, 5*time.Minute, 0)
		c.enter(2, 10*time.Minute, 2, false)
		c.want(t, "then")
	}
}

// TestAhead_ARestartOfNowEndsASessionFromThen before the restart, unless it was heard since the clock was put back.
func TestAhead_ARestartOfNowEndsASessionFromThen(t *testing.T) {
	t.Parallel()
	for _, commit := range []func(*kit, *testing.T, time.Time, ...telemetry.Report) telemetry.Committed{
		(*kit).putRight, (*kit).startedAnew,
	} {
		for _, heard := range []bool{false, true} {
			k := open(t)
			early, at := k.at(telemetry.Interim, 2*time.Minute, 2, 2), noon.Add(10*time.Minute)
			early.At = early.At.Add(lead)
			commit(k, t, early.At, early)
			if heard {
				commit(k, t, at, k.at(telemetry.Interim, 10*time.Minute, 10, 10))
			}
			for range 2 {
				commit(k, t, at, k.restart(at.Add(-time.Minute)))
			}
			got := k.only(t)
			if heard != got.Ended.IsZero() || !heard && (got.Reason != telemetry.ReasonRestarted ||
				!got.Ended.Before(at) || got.Ended.Sub(got.Started) != 2*time.Minute) {
				t.Errorf("heard since: %v: %+v", heard, got)
			}
		}
	}
}

// TestAhead_AReportWithoutTimeOnlineIsAboutTheSessionOfNow, not about one from then that had the same name.
func TestAhead_AReportWithoutTimeOnlineIsAboutTheSessionOfNow(t *testing.T) {
	t.Parallel()
	k := open(t)
	for _, told := range []struct {
		kind telemetry.Kind
		at   time.Time
	}{
		{telemetry.Start, noon.Add(lead)},
		{telemetry.Stop, noon.Add(lead + time.Minute)},
		{telemetry.Start, noon.Add(10 * time.Minute)},
		{telemetry.Stop, noon.Add(15 * time.Minute)},
	} {
		r := k.at(told.kind, 0, 0, 0)
		r.At = told.at
		k.putRight(t, told.at, r)
	}
	for _, got := range k.rows(t.Context(), t, k.device) {
		if now := got.Started.Before(noon.Add(lead)); got.Ended.Sub(got.Started) != time.Minute && !now ||
			now && !got.Ended.Equal(noon.Add(15*time.Minute)) {
			t.Errorf("%+v", got)
		}
	}
}

// TestAhead_OfManySessionsTheOneFromThenIsForgotten.
func TestAhead_OfManySessionsTheOneFromThenIsForgotten(t *testing.T) {
	t.Parallel()
	c := open(t).liveAt(t, noon.Add(30*time.Minute))
	c.commitAll(t, c.of(id.New[id.Device](), "then", phones[0], phones[0])(telemetry.Start, lead, 0))
	for n := range 24 {
		key := fmt.Sprint("now", n)
		c.commitAll(t, c.of(c.device, key, "", key)(telemetry.Start, time.Duration(n)*time.Minute, 0))
	}
	if known, _ := c.Known(c.subscription); known != 24 || c.Has(c.subscription, phones[0]) {
		t.Errorf("%d are known, the one from then: %v", known, c.Has(c.subscription, phones[0]))
	}
}

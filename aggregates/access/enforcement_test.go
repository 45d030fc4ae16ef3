package access_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// One session and what is done with it.
var (
	online = events.EnforcedSession{
		SessionID: id.Derive[id.Online]("test", "session"), OrgID: id.Derive[id.Organization]("test", "org"),
		DeviceID: id.Derive[id.Device]("test", "router"),
	}
	slower = events.EnforcementStep{
		Action: events.ChangeRate, Reason: "rate", Before: events.SessionGrant{Access: "full", Down: 10_000},
		After: events.SessionGrant{Access: "full", Down: 5_000},
	}
	cut = events.EnforcementStep{
		Action: events.EndOnline, Reason: "expired", Before: events.SessionGrant{Access: "full", Down: 10_000},
		After: events.SessionGrant{Access: "none"},
	}
)

// announced makes the event that stands before every outcome.
func announced(s events.EnforcementStep) events.EnforcementEvent {
	return events.SessionChangeAnnounced{EnforcedSession: online, EnforcementStep: s, At: now}
}

func TestEnforcement_AnAnnouncementCountsOnceUntilItsOutcome(t *testing.T) {
	t.Parallel()
	announce := func(s events.EnforcementStep) commands.EnforcementCommand {
		return commands.AnnounceSessionChange{Session: online, Step: s}
	}
	record := commands.RecordSessionChange{Session: online, Via: events.ViaRadius}
	done := events.SessionChanged{
		EnforcedSession: online, EnforcementStep: slower, Via: events.ViaRadius, At: now,
	}
	again := slower
	again.Reason, again.By.ID = "cap_throttled", "somebody else"
	start := func(given ...events.EnforcementEvent) *decidertest.Scenario[
		access.Enforcement, commands.EnforcementCommand, events.EnforcementEvent,
	] {
		return decidertest.For(t, access.Enforcements(), now).Given(given...)
	}
	start().When(announce(slower)).Then(announced(slower))
	start(announced(slower)).When(announce(again)).ThenNothing()
	start(announced(slower)).When(announce(cut)).Then(announced(cut))
	start(announced(slower)).When(record).Then(done)
	start(announced(slower), done).When(record).ThenNothing()
	start(announced(slower), done).When(announce(slower)).Then(announced(slower))
	start().When(record).ThenNothing()
}

func TestEnforcement_ARefusalIsRecordedOnceForEachText(t *testing.T) {
	t.Parallel()
	refuse := func(message string) commands.EnforcementCommand {
		return commands.RecordSessionRefusal{Session: online, Via: events.ViaRadius, Message: message}
	}
	refused := func(message string) events.EnforcementEvent {
		return events.SessionChangeRefused{
			EnforcedSession: online, EnforcementStep: cut, Via: events.ViaRadius, Message: message, At: now,
		}
	}
	decidertest.For(t, access.Enforcements(), now).Given(announced(cut)).When(refuse("no")).Then(refused("no"))
	decidertest.For(t, access.Enforcements(), now).Given(announced(cut), refused("no")).When(refuse("no")).ThenNothing()
	decidertest.For(t, access.Enforcements(), now).Given(announced(cut), refused("no")).When(refuse("never")).
		Then(refused("never"))
	decidertest.For(t, access.Enforcements(), now).When(refuse("no")).ThenNothing()
}

// changedAt is an outcome some minutes after the beginning.
func changedAt(minute int, edit func(*events.SessionChanged)) events.EnforcementEvent {
	e := events.SessionChanged{
		EnforcedSession: online, EnforcementStep: cut, At: now.Add(time.Duration(minute) * time.Minute),
	}
	edit(&e)
	return e
}

// ofSession makes an end one of a session of the place.
func ofSession(name string) func(*events.SessionChanged) {
	return func(e *events.SessionChanged) { e.Shown = id.Derive[id.Online]("test", name) }
}

// TestEnforcement_AnEndIsOneThatTheRouterMade: a session that had gone by itself, or that outlived its router here, was
// not ended. Ends that are added later leave an earlier state alone.
func TestEnforcement_AnEndIsOneThatTheRouterMade(t *testing.T) {
	t.Parallel()
	evolve := access.Enforcements().Evolve
	ended := func(*events.SessionChanged) {}
	minute := func(m int) time.Time { return now.Add(time.Duration(m) * time.Minute) }
	var s access.Enforcement
	for _, e := range []events.EnforcementEvent{
		changedAt(1, func(e *events.SessionChanged) { e.Found = true }),
		changedAt(2, func(e *events.SessionChanged) { e.Lapsed = true }),
		changedAt(3, func(e *events.SessionChanged) { e.EnforcementStep = slower }),
		changedAt(4, ended), changedAt(5, ended),
	} {
		s = evolve(s, e)
	}
	one, other := evolve(s, changedAt(6, ended)), evolve(s, changedAt(7, ended))
	for _, c := range []struct {
		s           access.Enforcement
		until, want time.Time
	}{
		{s, minute(3), time.Time{}}, {s, minute(4), minute(4)}, {s, minute(9), minute(5)},
		{one, minute(9), minute(6)}, {other, minute(9), minute(7)}, {other, minute(6), minute(5)},
	} {
		if got := c.s.LastEnd(c.until); !got.Equal(c.want) {
			t.Errorf("last end until %s: %s, want %s", c.until, got, c.want)
		}
	}
	if !s.First.Equal(minute(4)) || s.EndsOf(online.SessionID) != 3 {
		t.Errorf("first end %s, %d ends", s.First, s.EndsOf(online.SessionID))
	}
}

// TestEnforcement_EndsOfAPlaceAreThoseOfItsSessions: those of one say nothing about another. An end whose session was
// not recorded, as in the first events, is one of none of them.
func TestEnforcement_EndsOfAPlaceAreThoseOfItsSessions(t *testing.T) {
	t.Parallel()
	var s access.Enforcement
	unknown := func(*events.SessionChanged) {}
	for i, edit := range []func(*events.SessionChanged){
		unknown, unknown, ofSession("a"), ofSession("b"), ofSession("a"),
	} {
		s = access.Enforcements().Evolve(s, changedAt(i, edit))
	}
	for name, want := range map[string]int{"a": 2, "b": 1, "c": 0} {
		if got := s.EndsOf(id.Derive[id.Online]("test", name)); got != want {
			t.Errorf("session %s was ended %d times, want %d", name, got, want)
		}
	}
	announce := func(name string) commands.AnnounceSessionChange {
		step := cut
		step.Shown = id.Derive[id.Online]("test", name)
		return commands.AnnounceSessionChange{Session: online, Step: step}
	}
	decidertest.For(t, access.Enforcements(), now).Given(announced(announce("a").Step)).When(announce("a")).
		ThenNothing()
	decidertest.For(t, access.Enforcements(), now).Given(announced(announce("a").Step)).When(announce("b")).
		Then(announced(announce("b").Step))
}

// TestEnforcement_APlaceForYearsHasASmallState: its ends are bounded, and a period passes them on.
func TestEnforcement_APlaceForYearsHasASmallState(t *testing.T) {
	t.Parallel()
	def := access.Enforcements()
	var s access.Enforcement
	for i := range 1_000 {
		s = def.Evolve(def.Evolve(s, announced(cut)), changedAt(i, ofSession(strconv.Itoa(i))))
	}
	last := now.Add(999 * time.Minute)
	if len(s.Ends) > 16 || !s.First.Equal(now) || !s.LastEnd(last).Equal(last) || !s.LastEnd(now).Equal(now) {
		t.Errorf("%d ends, from %s to %s", len(s.Ends), s.First, s.LastEnd(last))
	}
	for _, s := range []access.Enforcement{s, def.Evolve(s, announced(slower))} {
		got, err := def.Reopen(def.Close(s))
		if diff := cmp.Diff(s, got); err != nil || diff != "" {
			t.Errorf("%v, state (-before +after):\n%s", err, diff)
		}
	}
	if state, err := def.Reopen(events.EnforcementPeriodClosed{Opening: []byte(`{}`)}); err == nil {
		t.Errorf("an opening without a state is read as %+v", state)
	}
}

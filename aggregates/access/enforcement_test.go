package access_test

import (
	"slices"
	"testing"
	"time"

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

// TestEnforcement_AnEndIsOneThatTheRouterMade: a session that had gone by itself, or that outlived its router here, was
// not ended. Ends that are added later leave an earlier state alone.
func TestEnforcement_AnEndIsOneThatTheRouterMade(t *testing.T) {
	t.Parallel()
	evolve := access.Enforcements().Evolve
	changed := func(minute int, edit func(*events.SessionChanged)) events.EnforcementEvent {
		e := events.SessionChanged{
			EnforcedSession: online, EnforcementStep: cut, At: now.Add(time.Duration(minute) * time.Minute),
		}
		edit(&e)
		return e
	}
	ended := func(*events.SessionChanged) {}
	var s access.Enforcement
	for _, e := range []events.EnforcementEvent{
		changed(1, func(e *events.SessionChanged) { e.Found = true }),
		changed(2, func(e *events.SessionChanged) { e.Lapsed = true }),
		changed(3, func(e *events.SessionChanged) { e.EnforcementStep = slower }), changed(4, ended), changed(5, ended),
	} {
		s = evolve(s, e)
	}
	one, other := evolve(s, changed(6, ended)), evolve(s, changed(7, ended))
	want := []time.Time{now.Add(4 * time.Minute), now.Add(5 * time.Minute)}
	if !slices.Equal(s.Ends, want) || !slices.Equal(one.Ends, append(want, now.Add(6*time.Minute))) {
		t.Errorf("ends %v, then %v, or %v", s.Ends, one.Ends, other.Ends)
	}
}

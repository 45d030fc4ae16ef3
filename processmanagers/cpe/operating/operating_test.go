package operating_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/operating"
)

// One operation of these tests.
var (
	now   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	about = events.CpeOperationSubject{
		OperationID: id.Derive[id.CPEOperation]("test", "write"), CpeID: id.Derive[id.CPE]("test", "box"),
		OrgID: id.Derive[id.Organization]("test", "acme"),
	}
	values = id.Derive[id.Secret]("test", "values")
	jane   = id.Derive[id.Subscriber]("test", "jane")
	work   = commands.CpeWork{
		OperationID: about.OperationID, CpeID: about.CpeID, OrgID: about.OrgID, SubscriberID: jane,
		Operation: events.CpeWifi, ValuesRef: values, CallNow: true, ExpiresAt: now.Add(24 * time.Hour),
	}
	queued = events.CpeOperationQueued{
		CpeOperationSubject: about, SubscriberID: jane, Kind: events.CpeWifi, ValuesRef: values, CallNow: true,
		ExpiresAt: now.Add(24 * time.Hour), At: now,
	}
	sent      = events.CpeOperationSent{CpeOperationSubject: about, Call: "ok", At: now}
	confirmed = events.CpeOperationConfirmed{CpeOperationSubject: about, At: now}
	failed    = events.CpeOperationFailed{CpeOperationSubject: about, At: now}
	expired   = events.CpeOperationExpired{CpeOperationSubject: about, At: now}
)

// after begins an example in which events have happened.
func after(t *testing.T, list ...events.Event) processtest.Scenario[operating.State] {
	t.Helper()
	return processtest.For(t, operating.Process(), now).Given(list...)
}

// look arms the timer of the next look.
func look(at time.Time) []processmanagers.Timer {
	return []processmanagers.Timer{{Name: "look", At: at}}
}

func TestOperating_SendsLooksAndDeletesTheValues(t *testing.T) {
	t.Parallel()
	soon := now.Add(15 * time.Second)
	send, check := commands.SendCpeOperation{CpeWork: work}, commands.CheckCpeOperation{CpeWork: work}
	after(t).When(queued).Then(processmanagers.Output{
		Jobs: []commands.Job{send},
		Timers: []processmanagers.Timer{
			{Name: "look", At: soon}, {Name: "expiry", At: queued.ExpiresAt},
		},
	})
	after(t, queued).At(soon).WhenDue("look", soon).Then(processmanagers.Output{ // nothing was heard of it
		Jobs: []commands.Job{send}, Timers: look(soon.Add(15 * time.Second)),
	})
	waits := sent
	waits.Call = "queued"
	after(t, queued).When(waits).Then(processmanagers.Output{Timers: look(soon)})
	for passed, pause := range map[time.Duration]time.Duration{
		15 * time.Second: 15 * time.Second, 5 * time.Minute: 5 * time.Minute, 3 * time.Hour: 10 * time.Minute,
	} {
		at := now.Add(passed)
		after(t, queued, sent).At(at).WhenDue("look", at).Then(processmanagers.Output{
			Jobs: []commands.Job{check}, Timers: look(at.Add(pause)),
		})
	}
	for _, end := range []events.Event{confirmed, failed, expired} {
		after(t, queued, sent).When(end).Then(processmanagers.Output{
			Jobs: []commands.Job{
				commands.DropCpeValues{OperationID: about.OperationID, ValuesRef: values},
			},
			Timers: []processmanagers.Timer{{Name: "look"}, {Name: "expiry"}},
		})
	}
}

// TestOperating_ADeviceThatAnswersIsLookedForAtOnce, each second at first: a setting is confirmed as soon as the device
// has written it. Who did not answer, and what takes its time, is looked for as before.
func TestOperating_ADeviceThatAnswersIsLookedForAtOnce(t *testing.T) {
	t.Parallel()
	check := commands.CheckCpeOperation{CpeWork: work}
	after(t, queued).When(sent).Then(processmanagers.Output{Timers: look(now.Add(time.Second))})
	for passed, pause := range map[time.Duration]time.Duration{
		time.Second: time.Second, 2 * time.Second: time.Second, 3 * time.Second: 1500 * time.Millisecond,
		14 * time.Second: 7 * time.Second, 15 * time.Second: 15 * time.Second, 3 * time.Hour: 10 * time.Minute,
	} {
		at := now.Add(passed)
		after(t, queued, sent).At(at).WhenDue("look", at).Then(processmanagers.Output{
			Jobs: []commands.Job{check}, Timers: look(at.Add(pause)),
		})
	}
	test := queued
	test.Kind = events.CpePing
	after(t, test).When(sent).Then(processmanagers.Output{Timers: look(now.Add(15 * time.Second))})
}

func TestOperating_EndsWhatIsNotDoneInTime(t *testing.T) {
	t.Parallel()
	over := queued.ExpiresAt
	after(t, queued).At(over).WhenDue("expiry", over).Then(processmanagers.Output{
		Commands: []commands.Command{commands.ExpireCpeOperation{OperationID: about.OperationID}},
		Timers:   []processmanagers.Timer{{Name: "expiry", At: over.Add(10 * time.Minute)}},
	})
}

func TestOperating_AfterTheEndNothingIsAskedFor(t *testing.T) {
	t.Parallel()
	gone := []processmanagers.Timer{{Name: "look"}, {Name: "expiry"}}
	after(t, queued, confirmed).When(sent).Then(processmanagers.Output{})
	after(t, queued, confirmed).When(confirmed).Then(processmanagers.Output{Timers: gone})
	after(t, queued, confirmed).WhenDue("look", now).Then(processmanagers.Output{})
	after(t, queued, confirmed).WhenDue("expiry", now).Then(processmanagers.Output{})
	processtest.CheckKeys(t, operating.Process(), about.OperationID.String(), queued, sent, confirmed, failed, expired)
}

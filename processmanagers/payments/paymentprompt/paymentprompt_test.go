package paymentprompt_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/paymentprompt"
)

// The ids and the start of one attempt.
var (
	start   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	attempt = id.Must[id.Payment]("0195a000-0000-7000-8000-000000000031")
	sub     = id.Must[id.Subscriber]("0195a000-0000-7000-8000-000000000011")
)

// The events of the attempt.
var (
	initiated = events.PaymentInitiated{
		PaymentID: attempt, SubscriberID: sub, InitiatedAt: start, ExpiresAt: start.Add(24 * time.Hour),
	}
	accepted = events.PromptAccepted{PaymentID: attempt, CheckoutRequestID: "ws_CO_1", At: start}
)

// after begins an example in which events have happened. Inputs come at the start unless At sets another time.
func after(t *testing.T, list ...events.Event) processtest.Scenario[paymentprompt.State] {
	t.Helper()
	return processtest.For(t, paymentprompt.Process(), start).Given(list...)
}

// query is the job that asks the provider for the verdict; position is 0 after a timer.
func query(position uint64) []commands.Job {
	return []commands.Job{commands.QueryPrompt{PaymentID: attempt, Position: position}}
}

func TestInitiated_IsSubmittedOnceAndWatched(t *testing.T) {
	t.Parallel()
	after(t).When(initiated).Then(processmanagers.Output{
		Jobs: []commands.Job{commands.SubmitPrompt{PaymentID: attempt, Position: processtest.Position}},
		Timers: []processmanagers.Timer{
			{Name: "recheck", At: start.Add(30 * time.Second)}, {Name: "expire", At: start.Add(24 * time.Hour)},
			{Name: "abandoned"},
		},
	})
}

func TestReservation_WithoutAnAttemptIsReleased(t *testing.T) {
	t.Parallel()
	reserved := events.PromptReserved{PaymentID: attempt, SubscriberID: sub, At: start}
	after(t).When(reserved).Then(processmanagers.Output{
		Timers: []processmanagers.Timer{{Name: "abandoned", At: start.Add(5 * time.Minute)}},
	})
	after(t, reserved).WhenDue("abandoned", start).Then(processmanagers.Output{
		Commands: []commands.Command{commands.ReleasePrompt{SubscriberID: sub, PaymentID: attempt}},
		Timers:   []processmanagers.Timer{{Name: "recheck"}, {Name: "expire"}},
	}).ThenEnded()
	after(t, reserved, initiated).WhenDue("abandoned", start).ThenNothing()
}

func TestRecheck_FollowsTheScheduleThenHourly(t *testing.T) {
	t.Parallel()
	s := after(t, initiated, accepted)
	for now, next := range map[time.Duration]time.Duration{
		30 * time.Second:  time.Minute,
		time.Minute:       2 * time.Minute,
		2 * time.Minute:   5 * time.Minute,
		5 * time.Minute:   15 * time.Minute,
		15 * time.Minute:  time.Hour,
		time.Hour:         2 * time.Hour,
		150 * time.Minute: 3 * time.Hour, // after a standstill, missed times are not made up for
		30 * time.Hour:    31 * time.Hour,
	} {
		s.At(start.Add(now)).WhenDue("recheck", start.Add(now)).Then(processmanagers.Output{
			Jobs: query(0), Timers: []processmanagers.Timer{{Name: "recheck", At: start.Add(next)}},
		})
	}
}

func TestRecheck_WithoutANameThereIsNothingToAsk(t *testing.T) {
	t.Parallel()
	soon := start.Add(30 * time.Second)
	after(t, initiated).At(soon).WhenDue("recheck", soon).Then(processmanagers.Output{
		Timers: []processmanagers.Timer{{Name: "recheck", At: start.Add(time.Minute)}},
	})
}

func TestPrompt_OfWhichNothingIsKnownGivesItsAmountBackAfterFiveMinutes(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	next := func(d time.Duration, c ...commands.Command) processmanagers.Output {
		return processmanagers.Output{Commands: c, Timers: []processmanagers.Timer{{Name: "recheck", At: at(d)}}}
	}
	abandon := commands.AbandonPrompt{PaymentID: attempt}
	s := after(t, initiated).At(at(2*time.Minute)).WhenDue("recheck", at(2*time.Minute)).
		Then(next(5*time.Minute, abandon))
	s = s.At(at(5*time.Minute)).WhenDue("recheck", at(5*time.Minute)).Then(next(15*time.Minute, abandon,
		commands.DoubtPrompt{PaymentID: attempt, Cause: "no_answer"},
		commands.ReleasePrompt{SubscriberID: sub, PaymentID: attempt})).ThenGoesOn()
	s.At(at(15*time.Minute)).WhenDue("recheck", at(15*time.Minute)).Then(next(time.Hour))
	s.When(events.PaymentSucceeded{PaymentID: attempt, SubscriberID: sub}).ThenEnded() // it is paid all the same
	// After a standstill, or from a state of before the rule, the amount is given back at the next re-check.
	late := at(3 * time.Hour)
	after(t, initiated).At(late).WhenDue("recheck", late).Then(next(4*time.Hour, abandon,
		commands.DoubtPrompt{PaymentID: attempt, Cause: "no_answer"},
		commands.ReleasePrompt{SubscriberID: sub, PaymentID: attempt}))
}

func TestDoubt_ARecheckThatComesLateCountsTheWholeWait(t *testing.T) {
	t.Parallel()
	for _, due := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute} {
		late := start.Add(40 * time.Minute)
		after(t, initiated).At(late).WhenDue("recheck", start.Add(due)).Then(processmanagers.Output{
			Commands: []commands.Command{
				commands.AbandonPrompt{PaymentID: attempt},
				commands.DoubtPrompt{PaymentID: attempt, Cause: "no_answer"},
				commands.ReleasePrompt{SubscriberID: sub, PaymentID: attempt},
			},
			Timers: []processmanagers.Timer{{Name: "recheck", At: start.Add(time.Hour)}},
		}).ThenGoesOn()
	}
}

func TestExpiry_OnlyAfterAnAnsweredQuery(t *testing.T) {
	t.Parallel()
	late := start.Add(24 * time.Hour)
	expire := processmanagers.Output{Commands: []commands.Command{commands.ExpirePayment{PaymentID: attempt}}}
	named := after(t, initiated, accepted).At(late)
	named.WhenDue("expire", late).Then(processmanagers.Output{Jobs: query(0)})
	named.When(events.PromptChecked{PaymentID: attempt, Code: "unreachable", At: late}).ThenNothing()
	named.When(events.PromptChecked{
		PaymentID: attempt, Code: "4999", Answered: true, At: late.Add(-time.Second),
	}).ThenNothing()
	named.When(events.PromptChecked{PaymentID: attempt, Code: "4999", Answered: true, At: late}).Then(expire)
	after(t, initiated).At(late).WhenDue("expire", late).Then(expire)
}

func TestNoAnswer_SaidAgainByARecheckFreesTheAccount(t *testing.T) {
	t.Parallel()
	free := processmanagers.Output{
		Commands: []commands.Command{commands.ReleasePrompt{SubscriberID: sub, PaymentID: attempt}},
	}
	for _, code := range []string{"1019", "1025", "1037"} {
		first := events.PromptChecked{PaymentID: attempt, Code: code, Answered: true, At: start.Add(29 * time.Second)}
		after(t, initiated, accepted).When(first).ThenNothing()
		again := first
		again.At = start.Add(30 * time.Second)
		after(t, initiated, accepted, first).When(again).Then(free).ThenGoesOn()
	}
	after(t, initiated, accepted).When(events.PromptChecked{
		PaymentID: attempt, Code: "4999", Answered: true, At: start.Add(time.Hour),
	}).ThenNothing()
}

func TestEnd_FreesTheAccountAndStopsAsking(t *testing.T) {
	t.Parallel()
	for _, end := range []events.Event{
		events.PaymentSucceeded{PaymentID: attempt, SubscriberID: sub}, events.PaymentCancelled{
			PaymentID: attempt, SubscriberID: sub,
		},
		events.PaymentFailed{PaymentID: attempt, SubscriberID: sub}, events.PaymentExpired{
			PaymentID: attempt, SubscriberID: sub,
		},
	} {
		want := processmanagers.Output{
			Commands: []commands.Command{commands.ReleasePrompt{SubscriberID: sub, PaymentID: attempt}},
			Timers:   []processmanagers.Timer{{Name: "recheck"}, {Name: "expire"}},
		}
		after(t, initiated, accepted).When(end).Then(want).ThenEnded().WhenDue("recheck", start).ThenNothing()
		after(t).When(end).Then(want) // a success can follow another end
	}
}

func TestCheck_OfAnAttemptThatIsOverDoesNothing(t *testing.T) {
	t.Parallel()
	checked := events.PromptChecked{PaymentID: attempt, Code: "1037", Answered: true, At: start.Add(25 * time.Hour)}
	after(t, initiated, accepted, events.PaymentFailed{PaymentID: attempt, SubscriberID: sub}).
		When(checked).ThenNothing().ThenEnded()
	after(t, initiated).WhenRefused(commands.ExpirePayment{PaymentID: attempt}, "payment_settled").
		ThenNothing().ThenGoesOn()
}

func TestAttempt_OutlivesTheTimerOfItsReservation(t *testing.T) {
	t.Parallel()
	after(t, initiated).WhenDue("abandoned", start.Add(5*time.Minute)).ThenNothing().ThenGoesOn()
	reserved := events.PromptReserved{PaymentID: attempt, SubscriberID: sub, At: start}
	after(t, reserved).WhenDue("recheck", start).ThenGoesOn()
}

func TestCheckRequested_IsAskedAtOnceAlsoAfterTheEnd(t *testing.T) {
	t.Parallel()
	requested := events.PromptCheckRequested{PaymentID: attempt, At: start}
	after(t, initiated, accepted).When(requested).Then(processmanagers.Output{Jobs: query(processtest.Position)})
	after(t).When(requested).Then(processmanagers.Output{Jobs: query(processtest.Position)})
}

func TestProcess_EveryHandledEventHasItsInstance(t *testing.T) {
	t.Parallel()
	processtest.CheckKeys(t, paymentprompt.Process(), attempt.String(), events.PromptReserved{PaymentID: attempt},
		initiated, accepted, events.PromptChecked{PaymentID: attempt}, events.PromptCheckRequested{PaymentID: attempt},
		events.PaymentSucceeded{PaymentID: attempt}, events.PaymentCancelled{PaymentID: attempt},
		events.PaymentFailed{PaymentID: attempt}, events.PaymentExpired{PaymentID: attempt})
	if key := paymentprompt.Process().Key(events.Envelope{
		Event: events.PromptSubmitting{PaymentID: attempt},
	}); key != "" {
		t.Errorf("an event that is not handled has the instance %q", key)
	}
}

package paymentprompt_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/paymentprompt"
)

// The attempt of these tests.
var (
	start   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	attempt = id.Must[id.Payment]("0195a000-0000-7000-8000-000000000031")
	sub     = id.Must[id.Subscriber]("0195a000-0000-7000-8000-000000000011")
)

// The events of its life.
var (
	initiated = events.PaymentInitiated{
		PaymentID: attempt, SubscriberID: sub, InitiatedAt: start, ExpiresAt: start.Add(24 * time.Hour),
	}
	accepted = events.PromptAccepted{PaymentID: attempt, CheckoutRequestID: "ws_CO_1", At: start}
)

// of wraps an event.
func of(e events.Event) processmanagers.Input {
	return processmanagers.Input{Event: &events.Envelope{Type: e.EventType(), Position: 42, Event: e}}
}

// due is a timer that came due.
func due(name string) processmanagers.Input {
	return processmanagers.Input{Timeout: &processmanagers.Timeout{Name: name}}
}

// after folds inputs.
func after(ins ...events.Event) paymentprompt.State {
	var s paymentprompt.State
	for _, e := range ins {
		s = paymentprompt.Evolve(s, of(e))
	}
	return s
}

// expect compares what the process wants.
func expect(t *testing.T, s paymentprompt.State, in processmanagers.Input, now time.Time, want processmanagers.Output) {
	t.Helper()
	got, err := paymentprompt.Decide(s, in, now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// query is the job of a question.
func query(position uint64) []commands.Job {
	return []commands.Job{commands.QueryPrompt{PaymentID: attempt, Position: position}}
}

func TestInitiated_IsSubmittedOnceAndWatched(t *testing.T) {
	t.Parallel()
	expect(t, paymentprompt.State{}, of(initiated), start, processmanagers.Output{
		Jobs: []commands.Job{commands.SubmitPrompt{PaymentID: attempt, Position: 42}},
		Timers: []processmanagers.Timer{
			{Name: "recheck", At: start.Add(30 * time.Second)}, {Name: "expire", At: start.Add(24 * time.Hour)},
			{Name: "abandoned"},
		},
	})
}

func TestReservation_WithoutAnAttemptIsReleased(t *testing.T) {
	t.Parallel()
	reserved := events.PromptReserved{PaymentID: attempt, SubscriberID: sub, At: start}
	expect(t, paymentprompt.State{}, of(reserved), start, processmanagers.Output{
		Timers: []processmanagers.Timer{{Name: "abandoned", At: start.Add(5 * time.Minute)}},
	})
	expect(t, after(reserved), due("abandoned"), start, processmanagers.Output{
		Commands: []commands.Command{commands.ReleasePrompt{SubscriberID: sub, PaymentID: attempt}},
		Timers:   []processmanagers.Timer{{Name: "recheck"}, {Name: "expire"}},
	})
	if !paymentprompt.Process().Ended(paymentprompt.Evolve(after(reserved), due("abandoned"))) {
		t.Error("the instance does not end")
	}
	expect(t, after(reserved, initiated), due("abandoned"), start, processmanagers.Output{})
}

func TestRecheck_FollowsTheScheduleThenHourly(t *testing.T) {
	t.Parallel()
	s := after(initiated, accepted)
	for now, next := range map[time.Duration]time.Duration{
		30 * time.Second:  time.Minute,
		time.Minute:       2 * time.Minute,
		2 * time.Minute:   5 * time.Minute,
		5 * time.Minute:   15 * time.Minute,
		15 * time.Minute:  time.Hour,
		time.Hour:         2 * time.Hour,
		150 * time.Minute: 3 * time.Hour, // after a standstill: no catching up
		30 * time.Hour:    31 * time.Hour,
	} {
		expect(t, s, due("recheck"), start.Add(now), processmanagers.Output{
			Jobs: query(0), Timers: []processmanagers.Timer{{Name: "recheck", At: start.Add(next)}},
		})
	}
}

func TestRecheck_WithoutANameThereIsNothingToAsk(t *testing.T) {
	t.Parallel()
	expect(t, after(initiated), due("recheck"), start.Add(30*time.Second), processmanagers.Output{
		Timers: []processmanagers.Timer{{Name: "recheck", At: start.Add(time.Minute)}},
	})
}

func TestExpiry_OnlyAfterAnAnsweredQuery(t *testing.T) {
	t.Parallel()
	late := start.Add(24 * time.Hour)
	expire := processmanagers.Output{Commands: []commands.Command{commands.ExpirePayment{PaymentID: attempt}}}
	named := after(initiated, accepted)
	expect(t, named, due("expire"), late, processmanagers.Output{Jobs: query(0)})
	expect(t, named, of(events.PromptChecked{PaymentID: attempt, Code: "unreachable", At: late}), late,
		processmanagers.Output{})
	expect(t, named, of(events.PromptChecked{PaymentID: attempt, Code: "4999", Answered: true,
		At: late.Add(-time.Second)}), late, processmanagers.Output{})
	expect(t, named, of(events.PromptChecked{PaymentID: attempt, Code: "4999", Answered: true, At: late}), late, expire)
	expect(t, after(initiated), due("expire"), late, expire)
}

func TestNoAnswer_SaidAgainByARecheckFreesTheAccount(t *testing.T) {
	t.Parallel()
	free := processmanagers.Output{
		Commands: []commands.Command{commands.ReleasePrompt{SubscriberID: sub, PaymentID: attempt}},
	}
	for _, code := range []string{"1019", "1025", "1037"} {
		first := events.PromptChecked{PaymentID: attempt, Code: code, Answered: true, At: start.Add(29 * time.Second)}
		expect(t, after(initiated, accepted), of(first), start, processmanagers.Output{})
		again := first
		again.At = start.Add(30 * time.Second)
		expect(t, after(initiated, accepted, first), of(again), start, free)
		if paymentprompt.Process().Ended(after(initiated, accepted, first, again)) {
			t.Errorf("%s ends the watching", code)
		}
	}
	expect(t, after(initiated, accepted),
		of(events.PromptChecked{PaymentID: attempt, Code: "4999", Answered: true, At: start.Add(time.Hour)}), start,
		processmanagers.Output{})
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
		expect(t, after(initiated, accepted), of(end), start, want)
		expect(t, paymentprompt.State{}, of(end), start, want) // a success after the end
		over := after(initiated, accepted, end)
		expect(t, over, due("recheck"), start, processmanagers.Output{})
		if !paymentprompt.Process().Ended(over) {
			t.Errorf("%s does not end the instance", end.EventType())
		}
	}
}

func TestCheckRequested_IsAskedAtOnceAlsoAfterTheEnd(t *testing.T) {
	t.Parallel()
	requested := events.PromptCheckRequested{PaymentID: attempt, At: start}
	expect(t, after(initiated, accepted), of(requested), start, processmanagers.Output{Jobs: query(42)})
	expect(t, paymentprompt.State{}, of(requested), start, processmanagers.Output{Jobs: query(42)})
}

func TestProcess_EveryHandledEventHasItsInstance(t *testing.T) {
	t.Parallel()
	p := paymentprompt.Process()
	for _, e := range []events.Event{
		events.PromptReserved{PaymentID: attempt}, initiated, accepted, events.PromptChecked{PaymentID: attempt},
		events.PromptCheckRequested{PaymentID: attempt}, events.PaymentSucceeded{PaymentID: attempt},
		events.PaymentCancelled{PaymentID: attempt}, events.PaymentFailed{PaymentID: attempt},
		events.PaymentExpired{PaymentID: attempt},
	} {
		if p.Key(*of(e).Event) != attempt.String() {
			t.Errorf("%s has no instance", e.EventType())
		}
	}
	if p.Key(events.Envelope{Event: events.PromptSubmitting{PaymentID: attempt}}) != "" {
		t.Error("an event that is not handled has an instance")
	}
}

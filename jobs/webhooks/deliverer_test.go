package webhooksjobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/webhooks"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs/webhooks"
	"github.com/lastmile-isp/lastmile/projections/outbox"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
)

// A message goes to the endpoints of its organization that have chosen its type, as the outbox shows it.
func TestDeliveries_AMessageGoesToWhoChoseItsType(t *testing.T) {
	t.Parallel()
	k := newKit(t).run()
	hook, url := k.register(k.acme, "one")
	other, _ := k.register(k.acme, "two")
	k.Run(t, coretest.Operator(k.acme), commands.AmendWebhook{WebhookID: other, Settings: commands.WebhookSettings{
		URL: "https://two.example.com", Types: []string{events.OutboxWalledGarden},
	}})
	rival := id.New[id.Organization]()
	foreign, _ := k.register(rival, "rival")
	k.invoice(k.acme, 1)
	row := k.until(k.acme, hook, "delivered", all(1, webhooksviews.Delivered, 1))[0]
	calls := k.called(url)
	var got outbox.Envelope
	if len(calls) != 1 || json.Unmarshal(calls[0].Body, &got) != nil || calls[0].ID != row.MessageID.String() {
		t.Fatalf("calls %+v", calls)
	}
	want, err := outbox.Query{Views: k.views}.After(t.Context(), k.acme, outbox.Key{Position: -1}, 10)
	if err != nil || len(want) != 1 || got.ID != want[0].ID || got.Type != events.OutboxInvoiceCreated ||
		got.OrgID != k.acme || got.Position != uint64(want[0].Position) || !got.Timestamp.Equal(start) {
		t.Errorf("sent %+v, outbox %+v, %v", got, want, err)
	}
	if a := row.Attempts[0]; *a.Status != 200 || a.Error != "" || !a.At.Equal(start) || a.DurationMs != 1 {
		t.Errorf("attempt %+v", a)
	}
	if rows := append(k.list(k.acme, other), k.list(rival, foreign)...); len(rows) != 0 {
		t.Errorf("others got %+v", rows)
	}
	if rows := k.list(rival, hook); len(rows) != 0 {
		t.Errorf("another organization sees %+v", rows)
	}
	if row, err := k.store.Get(t.Context(), rival, row.ID); row != nil || err != nil {
		t.Errorf("another organization reads %+v, %v", row, err)
	}
}

// History is never sent: neither what was before the registration, nor anything for a second time after a restart or a
// rebuild, nor what happened while the endpoint was disabled.
func TestDeliveries_HistoryIsNotSent(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.invoice(k.acme, 3)
	hook, url := k.register(k.acme, "one")
	coretest.Start(t, "first", k.deliverer)
	k.invoice(k.acme, 1)
	k.until(k.acme, hook, "delivered", all(1, webhooksviews.Delivered, 1))
	k.Run(t, coretest.Operator(k.acme), commands.DisableWebhook{WebhookID: hook, Reason: events.WebhookOffAsked})
	k.invoice(k.acme, 2)
	k.Run(t, coretest.Operator(k.acme), commands.EnableWebhook{WebhookID: hook})
	k.deliverer.Stop()
	k.invoice(k.acme, 1) // while no program delivers
	k.deliverer = k.another()
	k.run()
	k.until(k.acme, hook, "delivered after a restart", all(2, webhooksviews.Delivered, 1))
	if n := len(k.called(url)); n != 2 {
		t.Errorf("%d calls", n)
	}
}

// A delivery that fails is tried six times, with the pauses that are promised, and then ends. The pauses outlive the
// program.
func TestDeliveries_AFailureIsTriedAgainWithGrowingPauses(t *testing.T) {
	t.Parallel()
	k := newKit(t).run()
	hook, url := k.register(k.acme, "one")
	k.answer(url, fails(503))
	k.invoice(k.acme, 1)
	at := start
	for i, pause := range []time.Duration{
		30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour,
	} {
		row := k.until(k.acme, hook, "failed", all(1, webhooksviews.Pending, i+1))[0]
		if row.NextAt == nil || !row.NextAt.Equal(at.Add(pause)) {
			t.Fatalf("attempt %d: next at %v", i+1, row.NextAt)
		}
		if i == 2 {
			k.deliverer.Stop()
			k.deliverer = k.another()
			k.run()
		}
		k.clock.Advance(pause - time.Second)
		k.clock.Advance(time.Second)
		at = at.Add(pause)
	}
	row := k.until(k.acme, hook, "ended", all(1, webhooksviews.Failed, 6))[0]
	if len(row.Attempts) != 6 || row.NextAt != nil || row.EndedAt == nil || *row.Attempts[5].Status != 503 ||
		row.Attempts[5].Error != webhooks.CodeNotAccepted {
		t.Errorf("ended as %+v", row)
	}
	for _, c := range k.called(url) {
		if c.ID != row.MessageID.String() || string(c.Body) != string(k.called(url)[0].Body) {
			t.Errorf("another id or body: %+v", c)
		}
	}
	k.answer(url, nil)
	if err := k.store.Again(t.Context(), k.acme, row.ID, k.clock.Now()); err != nil {
		t.Fatal(err)
	}
	k.deliverer.Wake()
	again := k.until(k.acme, hook, "delivered again", all(1, webhooksviews.Delivered, 7))[0]
	if len(again.Attempts) != 7 || again.MessageID != row.MessageID {
		t.Errorf("again %+v", again)
	}
}

// hangs answers when it is told to.
func hangs(let <-chan struct{}) func(context.Context) webhooks.Outcome {
	return func(ctx context.Context) webhooks.Outcome {
		select {
		case <-let:
			return webhooks.Outcome{Status: 200, Took: 9 * time.Second}
		case <-ctx.Done():
			return webhooks.Outcome{Code: webhooks.CodeInterrupted}
		}
	}
}

// An endpoint that hangs takes its own places alone, and an organization those of an organization.
func TestDeliveries_AnEndpointThatHangsHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	k := newKit(t).run()
	let := make(chan struct{})
	for i := range 6 {
		_, url := k.register(k.acme, string(rune('a'+i)))
		k.answer(url, hangs(let))
	}
	k.invoice(k.acme, 20)
	rival := id.New[id.Organization]()
	hook, _ := k.register(rival, "rival")
	k.invoice(rival, 100)
	k.until(rival, hook, "delivered", all(100, webhooksviews.Delivered, 1))
	atOnce := func() (sum int) {
		for i := range 6 {
			n := len(k.called("https://" + string(rune('a'+i)) + ".example.com"))
			if sum += n; n > 8 {
				t.Errorf("%d at once at one endpoint", n)
			}
		}
		return sum
	}
	k.until(rival, hook, "all places", func([]webhooksviews.DeliveryRow) bool { return atOnce() >= 32 })
	k.invoice(rival, 10)
	k.until(rival, hook, "delivered", all(110, webhooksviews.Delivered, 1))
	if sum := atOnce(); sum != 32 {
		t.Errorf("%d at once for one organization", sum)
	}
	close(let)
}

// A program that is killed while it calls leaves an attempt whose outcome nobody knows: the log says so, and it is made
// again. One that stops records what it interrupted.
func TestDeliveries_AnInterruptedAttemptIsInTheLogAndRepeated(t *testing.T) {
	t.Parallel()
	k := newKit(t).run()
	hook, url := k.register(k.acme, "one")
	k.answer(url, hangs(nil))
	k.invoice(k.acme, 1)
	k.until(k.acme, hook, "called", func([]webhooksviews.DeliveryRow) bool { return len(k.called(url)) == 1 })
	k.deliverer.Stop()
	row := k.until(k.acme, hook, "interrupted", all(1, webhooksviews.Pending, 1))[0]
	if a := row.Attempts[0]; a.Error != webhooks.CodeInterrupted || a.Status != nil {
		t.Errorf("after a stop: %+v", a)
	}
	if _, err := k.DB.Owner.Exec(t.Context(), `update `+k.DB.Namespace.Schema("webhooks")+
		`.deliveries set begun_at = next_at`); err != nil { // as a killed program leaves it
		t.Fatal(err)
	}
	k.answer(url, nil)
	k.deliverer = k.another()
	k.run()
	row = k.until(k.acme, hook, "delivered", all(1, webhooksviews.Delivered, 3))[0]
	if a := row.Attempts[1]; a.Error != "unknown" || a.Status != nil || !a.At.Equal(start) {
		t.Errorf("after a kill: %+v", a)
	}
}

// Every delivery fails for three days, twenty at least: the endpoint is disabled, and what waits for it ends.
func TestDeliveries_AnEndpointThatFailsForDaysIsDisabled(t *testing.T) {
	t.Parallel()
	k := newKit(t).run()
	hook, url := k.register(k.acme, "one")
	k.answer(url, fails(500))
	k.invoice(k.acme, 19)
	k.until(k.acme, hook, "failed once", all(19, webhooksviews.Pending, 1))
	k.clock.Advance(73 * time.Hour)
	k.until(k.acme, hook, "failed twice", all(19, webhooksviews.Pending, 2))
	query := webhooksviews.EndpointsQuery{Views: k.views}
	if row, err := query.Get(t.Context(), k.acme, hook); err != nil || row.State != webhooksviews.Enabled {
		t.Fatalf("after 19: %+v, %v", row, err)
	}
	k.invoice(k.acme, 1)
	k.until(k.acme, hook, "all ended", func(rows []webhooksviews.DeliveryRow) bool {
		for _, r := range rows {
			if r.State != webhooksviews.Failed {
				return false
			}
		}
		return len(rows) == 20
	})
	row, err := query.Get(t.Context(), k.acme, hook)
	if err != nil || row.State != webhooksviews.Disabled || row.DisabledReason != events.WebhookOffFailing ||
		row.Failed != 20 || !row.FailingSince.Equal(start) {
		t.Fatalf("disabled as %+v, %v", row, err)
	}
	k.answer(url, nil)
	k.Run(t, coretest.Operator(k.acme), commands.EnableWebhook{WebhookID: hook})
	k.invoice(k.acme, 1)
	k.until(k.acme, hook, "delivered again", func(rows []webhooksviews.DeliveryRow) bool {
		return len(rows) == 21 && slices.ContainsFunc(rows, func(r webhooksviews.DeliveryRow) bool {
			return r.State == webhooksviews.Delivered
		})
	})
}

// stumbling is a bus that fails the first time that an endpoint is to be disabled.
type stumbling struct {
	webhooksjobs.Bus
	failed atomic.Bool
}

// Execute implements webhooksjobs.Bus.
func (b *stumbling) Execute(ctx context.Context, c commands.Command, m commands.Meta) (bus.Result, error) {
	if _, disables := c.(commands.DisableWebhook); disables && !b.failed.Swap(true) {
		return bus.Result{}, errors.New("the store is away")
	}
	return b.Bus.Execute(ctx, c, m)
}

// An endpoint that could not be disabled is disabled after a later failure, without a restart.
func TestDeliveries_AFailedDisablingIsTriedAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	stumbles := &stumbling{Bus: k.Bus}
	k.execute = stumbles
	k.deliverer = k.another()
	k.run()
	hook, url := k.register(k.acme, "one")
	k.answer(url, fails(500))
	k.invoice(k.acme, 19)
	k.until(k.acme, hook, "failed once", all(19, webhooksviews.Pending, 1))
	k.clock.Advance(73 * time.Hour)
	k.until(k.acme, hook, "failed twice", all(19, webhooksviews.Pending, 2))
	query := webhooksviews.EndpointsQuery{Views: k.views}
	for n := 20; ; n++ {
		k.invoice(k.acme, 1)
		k.until(k.acme, hook, "another failure", func(rows []webhooksviews.DeliveryRow) bool {
			return len(rows) == n && len(rows[n-1].Attempts) > 0 || disabled(t, query, k.acme, hook)
		})
		if disabled(t, query, k.acme, hook) {
			break
		}
	}
	if !stumbles.failed.Load() {
		t.Error("disabling has not failed before")
	}
}

// disabled reports whether an endpoint is.
func disabled(t *testing.T, q webhooksviews.EndpointsQuery, org id.Organization, hook id.Webhook) bool {
	t.Helper()
	row, err := q.Get(t.Context(), org, hook)
	if err != nil {
		t.Fatal(err)
	}
	return row.State == webhooksviews.Disabled
}

// A success in between begins the count anew.
func TestDeliveries_ASuccessForgetsFailures(t *testing.T) {
	t.Parallel()
	k := newKit(t).run()
	hook, url := k.register(k.acme, "one")
	k.answer(url, fails(500))
	k.invoice(k.acme, 25)
	k.until(k.acme, hook, "failed once", all(25, webhooksviews.Pending, 1))
	k.answer(url, nil)
	k.clock.Advance(time.Minute)
	k.until(k.acme, hook, "delivered", all(25, webhooksviews.Delivered, 2))
	k.clock.Advance(80 * time.Hour)
	k.answer(url, fails(500))
	k.invoice(k.acme, 25)
	k.until(k.acme, hook, "failed again", func(rows []webhooksviews.DeliveryRow) bool {
		return len(rows) == 50 && all(25, webhooksviews.Pending, 1)(rows[25:])
	})
	row, err := webhooksviews.EndpointsQuery{Views: k.views}.Get(t.Context(), k.acme, hook)
	if err != nil || row.State != webhooksviews.Enabled {
		t.Errorf("%+v, %v", row, err)
	}
}

// While the clock is moved no attempt begins, and the move waits for those under way.
func TestDeliveries_NoneBeginsWhileTheClockIsMoved(t *testing.T) {
	t.Parallel()
	k := newKit(t).run()
	hook, url := k.register(k.acme, "one")
	let := make(chan struct{})
	k.answer(url, hangs(let))
	k.invoice(k.acme, 1)
	k.until(k.acme, hook, "called", func([]webhooksviews.DeliveryRow) bool { return len(k.called(url)) == 1 })
	shut := make(chan func())
	go func() {
		open, err := k.gate.Shut(context.Background())
		if err != nil {
			t.Error(err)
		}
		shut <- open
	}()
	<-k.gate.Closing()
	k.invoice(k.acme, 1)
	k.until(k.acme, hook, "made", func(rows []webhooksviews.DeliveryRow) bool { return len(rows) == 2 })
	close(let)
	open := <-shut
	if n := len(k.called(url)); n != 1 {
		t.Errorf("%d calls behind a shut gate", n)
	}
	k.clock.Advance(time.Hour)
	open()
	k.until(k.acme, hook, "delivered", all(2, webhooksviews.Delivered, 1))
}

// Old deliveries are deleted, those that wait are not.
func TestPurge_DeletesWhatEndedLongAgo(t *testing.T) {
	t.Parallel()
	k := newKit(t).run()
	hook, url := k.register(k.acme, "one")
	k.invoice(k.acme, 2)
	k.until(k.acme, hook, "delivered", all(2, webhooksviews.Delivered, 1))
	k.answer(url, fails(500))
	k.invoice(k.acme, 1)
	k.until(k.acme, hook, "made", func(rows []webhooksviews.DeliveryRow) bool { return len(rows) == 3 })
	if err := k.store.Purge(t.Context(), start); err != nil || len(k.list(k.acme, hook)) != 3 {
		t.Errorf("too early: %v", err)
	}
	if err := k.store.Purge(t.Context(), start.Add(time.Second)); err != nil || len(k.list(k.acme, hook)) != 1 {
		t.Errorf("after their time: %v", err)
	}
}

package accesscases_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// answers are those to sign-ins, of a network that shows nobody online.
type answers struct {
	differs  string
	wronged  bool
	refusals []telemetry.Refusal
}

// Differs implements accesscases.SignIns.
func (a *answers) Differs(
	context.Context, id.Organization, id.Subscription, entitlement.Access, time.Time,
) string {
	return a.differs
}

// Wronged implements accesscases.SignIns.
func (a *answers) Wronged(_ id.Subscription, code string, _ time.Time) bool {
	return a.wronged && code == "unpaid"
}

// OpenAt implements accesscases.Network.
func (*answers) OpenAt(context.Context, id.Organization, id.Subscriber, time.Time) ([]telemetry.Session, error) {
	return nil, nil
}

// RefusalsOf implements accesscases.Network.
func (a *answers) RefusalsOf(
	context.Context, id.Organization, id.Subscriber, time.Time,
) ([]telemetry.Refusal, error) {
	return a.refusals, nil
}

// LastSigns implements accesscases.Network.
func (*answers) LastSigns(
	context.Context, id.Organization, id.Subscriber, []id.Subscription,
) ([]telemetry.LastSign, error) {
	return nil, nil
}

// TestExplanations_TellWhereSignInsAreNotWhatTheLogHas: what this program answers, and the latest refusal in any
// program while the customer is entitled and offline. Not of the past, and not for ever.
func TestExplanations_TellWhereSignInsAreNotWhatTheLogHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.register(t, rand.New(rand.NewPCG(1, 2))) //nolint:gosec // a test
	a := &answers{}
	w.cases.Network, w.cases.SignIns, w.cases.Logger = a, a, slog.New(slog.DiscardHandler)
	line, other, device := c.lines[0], id.New[id.Subscription](), id.New[id.Device]()
	w.clock.Advance(72 * time.Hour) // it has started
	for _, command := range []commands.Command{
		commands.MakePeriodDue{SubscriptionID: line},
		commands.ExtendSubscription{
			SubscriptionID: line, InvoiceID: commands.PeriodInvoice(line, 1), PaidAt: w.clock.Now(),
		},
	} {
		w.Run(t, coretest.Operator(w.org), command)
	}
	w.settle(t)
	is := func(what string, at time.Time, want string) {
		t.Helper()
		x, err := w.cases.Of(t.Context(), w.org, c.id, at)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if d := x.Services[0].Difference; d != nil {
			got = d.Expected + ", but " + d.Actual
		}
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	now := time.Time{}
	is("all is well", now, "")
	a.differs = "a sign-in gets none"
	is("this program is old", now, "full, but a sign-in gets none")
	is("the past", w.clock.Now(), "")
	a.differs, a.wronged = "", true
	is("nobody was refused", now, "")
	at := w.clock.Now().Add(-time.Minute)
	a.refusals = []telemetry.Refusal{
		{SubscriptionID: other, DeviceID: device, Code: "unpaid", At: at.Add(time.Second)},
		{SubscriptionID: line, DeviceID: device, Code: "unpaid", At: at},
		{SubscriptionID: line, DeviceID: device, Code: "wrong_mac", At: at.Add(-time.Second)},
	}
	is("refused wrongly", now, "full, but the sign-in at "+at.UTC().Format(time.RFC3339)+" was refused: unpaid")
	stranger := telemetry.Refusal{SubscriptionID: line, Code: "unknown_nas", At: at.Add(time.Second)}
	a.refusals = append([]telemetry.Refusal{stranger}, a.refusals...)
	is("a packet from an unknown address", now, "full, but the sign-in at "+at.UTC().Format(time.RFC3339)+
		" was refused: unpaid")
	a.refusals = a.refusals[1:]
	a.wronged = false
	is("refused rightly", now, "")
	a.wronged = true
	a.refusals[0], a.refusals[1] = a.refusals[2], a.refusals[0]
	is("the latest refusal is of another kind", now, "")
	a.refusals = []telemetry.Refusal{
		{SubscriptionID: line, DeviceID: device, Code: "unpaid", At: at.Add(-time.Hour)},
	}
	is("an hour ago", now, "")
}

package accesscases_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// TestExplanations_WhereAllHasEndedTheLastEndSaysWhy: for the present and for a past instant, until there is another
// subscription.
func TestExplanations_WhereAllHasEndedTheLastEndSaysWhy(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	c := w.register(t, r)
	w.subscribe(t, r, c)
	is := func(code entitlement.Code, of id.Subscription, since time.Time) {
		t.Helper()
		w.settle(t)
		w.check(t, c)
		x := w.explain(t, c, time.Time{})
		got := x.Entitlement.Reasons[0]
		ended := code == entitlement.CodeEnded
		if len(x.Services) != 1 || x.Services[0].SubscriptionID != of || x.Services[0].Username == "" ||
			got.Code != code || got.Of != of || ended != (got.Cause.Type == "event") ||
			!got.Since.Equal(since.Truncate(time.Microsecond)) {
			t.Errorf("%+v, %+v", x.Services, got)
		}
		if x.Entitlement.Access != entitlement.None {
			t.Errorf("access is %s", x.Entitlement.Access)
		}
	}
	made := w.clock.Now()
	end := func(line id.Subscription) time.Time {
		w.clock.Advance(time.Hour)
		w.Run(t, coretest.Operator(w.org), commands.EndSubscription{SubscriptionID: line, Reason: "moved to Kisumu"})
		return w.clock.Now()
	}
	end(c.lines[1])
	first := w.explainFirst(t, c)
	is(first, c.lines[0], made)
	is(entitlement.CodeEnded, c.lines[0], end(c.lines[0]))
	w.clock.Advance(time.Hour)
	w.subscribe(t, r, c)
	w.settle(t)
	is(w.explainFirst(t, c), c.lines[2], w.clock.Now())
}

// explainFirst is the code of the first reason at present.
func (w *world) explainFirst(t *testing.T, c *customer) entitlement.Code {
	t.Helper()
	w.settle(t)
	return w.explain(t, c, time.Time{}).Entitlement.Reasons[0].Code
}

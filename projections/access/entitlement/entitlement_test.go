package entitlement_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// The ids and instants of the cases.
var (
	who        = id.New[id.Subscriber]()
	it         = id.New[id.Subscription]()
	invoice    = id.New[id.Invoice]()
	blocking   = id.New[id.Event]()
	registered = time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC)
	created    = registered.Add(time.Hour)
	starts     = created.Add(24 * time.Hour)
	changed    = starts.Add(time.Hour)
	until      = starts.AddDate(0, 1, 0)
	blocked    = until.Add(-time.Hour)
)

// subscription is active, prepaid and paid until the end of its first month; edit changes that.
func subscription(edit func(*entitlement.Subscription)) entitlement.Subscription {
	s := entitlement.Subscription{
		ID: it, Standing: entitlement.Active, Mode: events.Prepaid, CreatedAt: created, Since: changed,
		StartsAt: starts, PaidUntil: until,
	}
	edit(&s)
	return s
}

// in is a subscription in a standing, with or without an open invoice.
func in(standing entitlement.Standing, mode events.BillingMode, open id.Invoice) entitlement.Subscription {
	return subscription(func(s *entitlement.Subscription) { s.Standing, s.Mode, s.OpenInvoice = standing, mode, open })
}

// unpaid removes the paid time, as before the first paid period.
func unpaid(s entitlement.Subscription) entitlement.Subscription {
	s.PaidUntil = time.Time{}
	return s
}

// moment is the smallest difference of two instants in Go.
const moment = time.Nanosecond

// The causes of most expected reasons.
var (
	itself = entitlement.Cause{Type: "subscription", ID: id.Any(it)}
	owed   = entitlement.Cause{Type: "invoice", ID: id.Any(invoice)}
)

// standingCases has a subscription at an instant, with the one reason and the access expected for it.
var standingCases = map[string]struct {
	is    entitlement.Subscription
	at    time.Time
	code  entitlement.Code
	may   entitlement.Access
	since time.Time
	cause entitlement.Cause
}{
	"pending": {
		unpaid(in(entitlement.Pending, events.Prepaid, invoice)), starts, entitlement.CodeAwaitingPayment,
		entitlement.None, created, owed,
	},
	"pending without an invoice": {
		unpaid(in(entitlement.Pending, events.Prepaid, id.Invoice{})), starts, entitlement.CodeAwaitingPayment,
		entitlement.None, created, itself,
	},
	"pending before its day": {
		unpaid(in(entitlement.Pending, events.Prepaid, invoice)), starts.Add(-moment), entitlement.CodeNotStarted,
		entitlement.None, created, itself,
	},
	"pending postpaid before its day": {
		unpaid(in(entitlement.Pending, events.Postpaid, id.Invoice{})), starts.Add(-moment),
		entitlement.CodeNotStarted, entitlement.None, created, itself,
	},
	"pending postpaid on its day": {
		unpaid(in(entitlement.Pending, events.Postpaid, id.Invoice{})), starts, entitlement.CodeAwaitingPayment,
		entitlement.None, created, itself,
	},
	"paid, before its day": {
		in(entitlement.Active, events.Prepaid, id.Invoice{}), starts.Add(-moment), entitlement.CodeNotStarted,
		entitlement.None, created, itself,
	},
	"paid, at its first instant": {
		in(entitlement.Active, events.Prepaid, id.Invoice{}), starts, entitlement.CodePaid, entitlement.Full, changed,
		itself,
	},
	"paid, made to start at once by a clock that was ahead": {
		subscription(func(s *entitlement.Subscription) { s.StartsAt = s.CreatedAt }), created.Add(-3 * time.Hour),
		entitlement.CodePaid, entitlement.Full, changed, itself,
	},
	"paid, the next invoice is open": {
		in(entitlement.Active, events.Prepaid, invoice), until.Add(-moment), entitlement.CodePaid, entitlement.Full,
		changed, itself,
	},
	"paid, by an event that is known": {
		subscription(func(s *entitlement.Subscription) {
			s.Told = entitlement.PaidTold{At: changed.Add(time.Minute), EventID: blocking}
		}), until.Add(-moment), entitlement.CodePaid, entitlement.Full, changed.Add(time.Minute),
		entitlement.Cause{Type: "event", ID: id.Any(blocking)},
	},
	"paid ahead of its day": {
		subscription(func(s *entitlement.Subscription) {
			s.Told = entitlement.PaidTold{At: created, EventID: blocking}
		}), starts, entitlement.CodePaid, entitlement.Full, starts,
		entitlement.Cause{Type: "event", ID: id.Any(blocking)},
	},
	"at the end of what is paid": {
		in(entitlement.Active, events.Prepaid, invoice), until, entitlement.CodeExpired, entitlement.None, until, owed,
	},
	"after the end of what is paid": {
		in(entitlement.Active, events.Prepaid, id.Invoice{}), until.AddDate(1, 0, 0), entitlement.CodeExpired,
		entitlement.None, until, itself,
	},
	"active, the payment was withdrawn": {
		unpaid(in(entitlement.Active, events.Prepaid, invoice)), changed, entitlement.CodeExpired, entitlement.None,
		changed, owed,
	},
	"active, the only payment was taken back": {
		unpaid(subscription(func(s *entitlement.Subscription) { s.LostAt = starts.Add(moment) })), until,
		entitlement.CodeExpired, entitlement.None, starts.Add(moment), itself,
	},
	"active, the last of several payments was taken back after the end of the others": {
		subscription(func(s *entitlement.Subscription) { s.LostAt = until.Add(moment) }), until.Add(2 * moment),
		entitlement.CodeExpired, entitlement.None, until.Add(moment), itself,
	},
	"a payment ahead was taken back before the service began": {
		unpaid(subscription(func(s *entitlement.Subscription) { s.LostAt = starts.Add(-moment) })), starts,
		entitlement.CodeExpired, entitlement.None, starts, itself,
	},
	"paid again after a payment was taken back": {
		subscription(func(s *entitlement.Subscription) { s.LostAt = starts }), until, entitlement.CodeExpired,
		entitlement.None, until, itself,
	},
	"postpaid": {
		unpaid(in(entitlement.Active, events.Postpaid, invoice)), starts, entitlement.CodePostpaid, entitlement.Full,
		changed, itself,
	},
	"postpaid, years later": {
		in(entitlement.Active, events.Postpaid, invoice), until.AddDate(5, 0, 0), entitlement.CodePostpaid,
		entitlement.Full, changed, itself,
	},
	"postpaid, before its day": {
		in(entitlement.Active, events.Postpaid, id.Invoice{}), starts.Add(-moment), entitlement.CodeNotStarted,
		entitlement.None, created, itself,
	},
	"paused while paid": {
		in(entitlement.Paused, events.Prepaid, invoice), starts, entitlement.CodePaused, entitlement.None, changed,
		itself,
	},
	"paused before its day": {
		in(entitlement.Paused, events.Prepaid, invoice), created, entitlement.CodePaused, entitlement.None, changed,
		itself,
	},
	"paused postpaid": {
		in(entitlement.Paused, events.Postpaid, invoice), until, entitlement.CodePaused, entitlement.None, changed,
		itself,
	},
	"ended while paid": {
		in(entitlement.Ended, events.Prepaid, invoice), starts, entitlement.CodeEnded, entitlement.None, changed,
		itself,
	},
	"ended postpaid": {
		in(entitlement.Ended, events.Postpaid, invoice), until, entitlement.CodeEnded, entitlement.None, changed,
		itself,
	},
	"unknown standing": {
		in("", events.Postpaid, invoice), starts, entitlement.CodeAwaitingPayment, entitlement.None, created, owed,
	},
	"unknown billing mode": {
		unpaid(in(entitlement.Active, "", invoice)), starts, entitlement.CodeExpired, entitlement.None, changed, owed,
	},
}

func TestOf_EachStandingAtEachInstant(t *testing.T) {
	t.Parallel()
	for name, c := range standingCases {
		got := entitlement.Of(entitlement.State{
			SubscriberID: who, RegisteredAt: registered, Subscriptions: []entitlement.Subscription{c.is},
		}, c.at)
		want := entitlement.Entitlement{
			Access: c.may, Services: []entitlement.Service{{SubscriptionID: it, Access: c.may}},
			Reasons: []entitlement.Reason{{Code: c.code, Allows: c.may, Since: c.since, Cause: c.cause, Of: it}},
		}
		if diff := cmp.Diff(want, got, access); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// codes lists the codes of all reasons, in their order.
func codes(e entitlement.Entitlement) []entitlement.Code {
	var list []entitlement.Code
	for _, r := range e.Reasons {
		list = append(list, r.Code)
	}
	return list
}

func TestOf_ABlockComesFirstAndEndsEverything(t *testing.T) {
	t.Parallel()
	paid := in(entitlement.Active, events.Prepaid, id.Invoice{})
	state := entitlement.State{
		SubscriberID: who, RegisteredAt: registered, Subscriptions: []entitlement.Subscription{paid},
		Block: &entitlement.Block{Since: blocked, EventID: blocking},
	}
	got := entitlement.Of(state, starts)
	want := entitlement.Entitlement{
		Access: entitlement.None, Services: []entitlement.Service{{SubscriptionID: it, Access: entitlement.None}},
		Reasons: []entitlement.Reason{
			{
				Code: entitlement.CodeBlocked, Since: blocked, Cause: entitlement.Cause{
					Type: "event", ID: id.Any(blocking),
				},
			},
			{
				Code: entitlement.CodePaid, Allows: entitlement.Full, Since: changed,
				Cause: entitlement.Cause{Type: "subscription", ID: id.Any(it)}, Of: it,
			},
		},
	}
	if diff := cmp.Diff(want, got, access); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOf_WithoutASubscriptionThereIsNothingToUse(t *testing.T) {
	t.Parallel()
	state := entitlement.State{SubscriberID: who, RegisteredAt: registered}
	want := entitlement.Entitlement{Reasons: []entitlement.Reason{{
		Code: entitlement.CodeNoSubscription, Since: registered,
		Cause: entitlement.Cause{Type: "subscriber", ID: id.Any(who)},
	}}}
	if diff := cmp.Diff(want, entitlement.Of(state, starts)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	state.Block = &entitlement.Block{Since: blocked, EventID: blocking}
	both := []entitlement.Code{entitlement.CodeBlocked, entitlement.CodeNoSubscription}
	if diff := cmp.Diff(both, codes(entitlement.Of(state, starts))); diff != "" {
		t.Errorf("blocked (-want +got):\n%s", diff)
	}
}

func TestOf_TheBestOfSeveralSubscriptionsCountsAndTheirOrderStays(t *testing.T) {
	t.Parallel()
	got := entitlement.Of(entitlement.State{Subscriptions: []entitlement.Subscription{
		in(entitlement.Active, events.Postpaid, id.Invoice{}), in(entitlement.Active, events.Prepaid, invoice),
		in(entitlement.Paused, events.Prepaid, invoice),
	}}, until)
	if got.Access != entitlement.Full {
		t.Errorf("access %s", got.Access)
	}
	want := []entitlement.Code{entitlement.CodePostpaid, entitlement.CodeExpired, entitlement.CodePaused}
	if diff := cmp.Diff(want, codes(got)); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if entitlement.None.String() != "none" || entitlement.Full.String() != "full" {
		t.Error("the words of the API have changed")
	}
}

// instants draws one of seven full hours, so that two draws are often equal.
func instants(t *rapid.T, label string) time.Time {
	return registered.Add(time.Duration(rapid.IntRange(0, 6).Draw(t, label)) * time.Hour)
}

// states draws any state of a subscriber with up to three subscriptions.
func states(t *rapid.T) entitlement.State {
	s := entitlement.State{SubscriberID: who, RegisteredAt: registered}
	if rapid.Bool().Draw(t, "blocked") {
		s.Block = &entitlement.Block{Since: instants(t, "block"), EventID: blocking}
	}
	for range rapid.IntRange(0, 3).Draw(t, "subscriptions") {
		one := entitlement.Subscription{
			ID: id.New[id.Subscription](),
			Standing: rapid.SampledFrom([]entitlement.Standing{
				entitlement.Pending, entitlement.Active, entitlement.Paused, entitlement.Ended,
			}).Draw(t, "standing"),
			Mode:      rapid.SampledFrom([]events.BillingMode{events.Prepaid, events.Postpaid}).Draw(t, "mode"),
			CreatedAt: instants(t, "created"), Since: instants(t, "since"), StartsAt: instants(t, "starts"),
		}
		if rapid.Bool().Draw(t, "paid") {
			one.PaidUntil = instants(t, "until")
		}
		if rapid.Bool().Draw(t, "owes") {
			one.OpenInvoice = invoice
		}
		more(t, &one)
		s.Subscriptions = append(s.Subscriptions, one)
	}
	return s
}

func TestOf_IsAFunctionOfStateAndInstantAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, at := states(t), instants(t, "at")
		copied := s
		copied.Subscriptions = slices.Clone(s.Subscriptions)
		first := entitlement.Of(s, at)
		if diff := cmp.Diff(first, entitlement.Of(copied, at.In(time.FixedZone("elsewhere", 3*3600)))); diff != "" {
			t.Fatalf("the same question has two answers:\n%s", diff)
		}
		if !reflect.DeepEqual(copied, s) {
			t.Fatalf("the state was changed: %+v, was %+v", s, copied)
		}
		best := entitlement.None
		for _, service := range first.Services {
			best = max(best, service.Access)
		}
		if len(first.Services) != len(s.Subscriptions) || first.Access != best || len(first.Reasons) == 0 {
			t.Fatalf("the answer does not hold together: %+v", first)
		}
	})
}

func TestOf_ABlockNeverGivesMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		free, at := states(t), instants(t, "at")
		free.Block = nil
		held := free
		held.Block = &entitlement.Block{Since: instants(t, "block"), EventID: blocking}
		before, after := entitlement.Of(free, at), entitlement.Of(held, at)
		for i := range after.Services {
			if after.Services[i].Access > before.Services[i].Access {
				t.Fatalf("service %d has %s after a block, %s before", i, after.Services[i].Access,
					before.Services[i].Access)
			}
		}
		if after.Access != entitlement.None || after.Reasons[0].Code != entitlement.CodeBlocked {
			t.Fatalf("blocked: %+v", after)
		}
	})
}

func TestOf_MorePaidTimeNeverGivesLess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		poor, at := states(t), instants(t, "at")
		rich := poor
		rich.Subscriptions = slices.Clone(poor.Subscriptions)
		for i, s := range rich.Subscriptions {
			more := time.Duration(rapid.IntRange(0, 4).Draw(t, "more")) * time.Hour
			rich.Subscriptions[i].PaidUntil = s.PaidUntil.Add(more)
			if s.PaidUntil.IsZero() && more > 0 {
				rich.Subscriptions[i].PaidUntil = instants(t, "first paid until")
			}
		}
		before, after := entitlement.Of(poor, at), entitlement.Of(rich, at)
		for i := range after.Services {
			if after.Services[i].Access < before.Services[i].Access {
				t.Fatalf("service %d has %s with more paid time, %s with less", i, after.Services[i].Access,
					before.Services[i].Access)
			}
		}
		if after.Access < before.Access {
			t.Fatalf("%s with more paid time, %s with less", after.Access, before.Access)
		}
	})
}

func TestOf_EveryRefusalHasAReasonThatRefuses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		got := entitlement.Of(states(t), instants(t, "at"))
		refuses := func(r entitlement.Reason) bool { return r.Allows == entitlement.None }
		if got.Access == entitlement.None && !slices.ContainsFunc(got.Reasons, refuses) {
			t.Fatalf("refused without a reason: %+v", got)
		}
		for _, r := range got.Reasons {
			if r.Since.IsZero() || r.Cause.ID.IsZero() || r.Cause.Type == "" {
				t.Fatalf("a reason does not say since when or why: %+v", r)
			}
		}
	})
}

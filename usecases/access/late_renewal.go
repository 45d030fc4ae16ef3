package accesscases

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// withServed adds to the record of a payment what the customer was served since the end of the paid time, when the
// terms count it. It reads the log: the answer follows from the events that were recorded until the payment, so it is
// the same whenever the command is executed.
func withServed(
	ctx context.Context, b *bus.Bus, c commands.ExtendSubscription,
) (commands.ExtendSubscription, error) {
	if c.Late != events.FromExpiry {
		return c, nil
	}
	// the process that asks has seen the subscription, so the owner need not be checked
	s, _, err := bus.LoadUnchecked[subscribers.Subscription](ctx, b, c.SubscriptionID)
	if err != nil {
		return c, err
	}
	c.Served, err = servedSince(ctx, b, s, c.PaidAt)
	return c, err
}

// withDays adds to a wish to sell days how many the period has. One that was stored by an older program has them.
func withDays(ctx context.Context, b *bus.Bus, c commands.SellDays, now time.Time) (commands.SellDays, error) {
	if c.Of > 0 {
		return c, nil
	}
	s, _, err := bus.LoadUnchecked[subscribers.Subscription](ctx, b, c.SubscriptionID)
	if err != nil {
		return c, err
	}
	var counted []events.TimeSpan
	if s.Terms.LateRenewal == events.FromExpiry {
		if counted, err = servedSince(ctx, b, s, now); err != nil {
			return c, err
		}
	}
	c.Of = s.WholeDays(c.InvoiceID, now, counted)
	return c, nil
}

// servedSince lists the times in which a subscription was served, from the end of its paid time to a payment; nil when
// there is no time between.
func servedSince(
	ctx context.Context, b *bus.Bus, s subscribers.Subscription, paidAt time.Time,
) ([]events.TimeSpan, error) {
	if s.PaidUntil().IsZero() || !s.PaidUntil().Before(paidAt) {
		return nil, nil
	}
	var streams [3][]events.Envelope
	var err error
	if streams[0], err = bus.HistoryUnchecked[subscribers.Subscriber](ctx, b, s.SubscriberID); err != nil {
		return nil, err
	}
	if streams[1], err = bus.HistoryUnchecked[subscribers.Subscription](ctx, b, s.ID); err != nil {
		return nil, err
	}
	if streams[2], err = bus.HistoryUnchecked[access.Dunning](ctx, b, s.ID); err != nil {
		return nil, err
	}
	return served(inOrder(streams[:]), events.TimeSpan{From: s.PaidUntil(), To: paidAt}), nil
}

// inOrder merges streams by the time of their events. Each stream keeps its own order.
func inOrder(streams [][]events.Envelope) []events.Envelope {
	var all []events.Envelope
	for _, list := range streams {
		var reached time.Time
		for _, e := range list {
			if e.Meta.At.Before(reached) {
				e.Meta.At = reached
			}
			reached = e.Meta.At
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b events.Envelope) int { return a.Meta.At.Compare(b.Meta.At) })
	return all
}

// served lists the times within a span in which a subscription had whole access and the clock of dunning ran, by the
// events that were recorded until its end. What was served until a paid period was given back whole does not count: the
// credit note settles it. Source: docs/rules/subscribers.md#late-renewal.
func served(list []events.Envelope, in events.TimeSpan) []events.TimeSpan {
	var history entitlement.History
	var whole []events.TimeSpan
	clock := stopped{since: map[string]time.Time{}}
	at := in.From
	for _, e := range list {
		if e.Meta.At.After(in.To) {
			break
		}
		if e.Meta.At.After(at) {
			whole = append(whole, wholeAccess(history.State(time.UTC), events.TimeSpan{From: at, To: e.Meta.At})...)
			at = e.Meta.At
		}
		switch v := e.Event.(type) {
		case events.PeriodCancelled:
			if !v.NeverBegan {
				whole = nil
			}
		case events.DunningEvent:
			clock.follow(v)
		}
		history.Apply(e)
	}
	whole = append(whole, wholeAccess(history.State(time.UTC), events.TimeSpan{From: at, To: in.To})...)
	for _, still := range clock.until(in.To) {
		whole = without(whole, still)
	}
	return whole
}

// wholeAccess lists the times within a span in which a state gives everything. Caps and hours of the plan are left out:
// they are part of what is sold.
func wholeAccess(s entitlement.State, in events.TimeSpan) []events.TimeSpan {
	for i := range s.Subscriptions {
		s.Subscriptions[i].Terms = events.AccessTerms{}
	}
	var list []events.TimeSpan
	for at := in.From; at.Before(in.To); {
		next := entitlement.NextChange(s, at)
		if next.IsZero() || next.After(in.To) {
			next = in.To
		}
		if entitlement.Of(s, at).Access == entitlement.Full {
			list = append(list, events.TimeSpan{From: at, To: next})
		}
		at = next
	}
	return list
}

// without takes a span out of a list.
func without(list []events.TimeSpan, out events.TimeSpan) []events.TimeSpan {
	var left []events.TimeSpan
	for _, t := range list {
		if before := (events.TimeSpan{From: t.From, To: sooner(t.To, out.From)}); before.From.Before(before.To) {
			left = append(left, before)
		}
		if after := (events.TimeSpan{From: t.From, To: t.To}); out.To.Before(after.To) {
			if after.From.Before(out.To) {
				after.From = out.To
			}
			left = append(left, after)
		}
	}
	return left
}

// sooner is the first of two instants.
func sooner(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// stopped follows when the clock of dunning stands still: in a hold, in a pause of the subscription, and while a fault
// lasts that is not the customer's.
type stopped struct {
	over  []events.TimeSpan
	since map[string]time.Time // by cause
	hold  events.TimeSpan      // the latest one; zero = none, or it was lifted
}

// follow takes one event.
func (s *stopped) follow(e events.DunningEvent) {
	switch v := e.(type) {
	case events.HoldPlaced:
		if s.hold.From.Before(v.From) { // else it replaces that hold
			s.over = append(s.over, s.hold)
		}
		s.hold = events.TimeSpan{From: v.From, To: v.Until}
	case events.HoldLifted:
		s.over, s.hold = append(s.over, events.TimeSpan{From: v.From, To: v.At}), events.TimeSpan{}
	case events.DunningClockStopped:
		s.since[v.Cause] = v.From
	case events.DunningClockStarted:
		s.over = append(s.over, events.TimeSpan{From: v.From, To: v.Until})
		delete(s.since, v.Cause)
	default: // the other events leave the clock as it is
	}
}

// longest is the cause that stops the clock for longest; "" and nil when none does.
func (s *stopped) longest() (cause string, since *time.Time) {
	for _, c := range slices.Sorted(maps.Keys(s.since)) {
		if at := s.since[c]; since == nil || at.Before(*since) {
			cause, since = c, &at
		}
	}
	return cause, since
}

// until lists all times in which the clock stood still before an instant; they may lie over each other.
func (s *stopped) until(at time.Time) []events.TimeSpan {
	list := append(slices.Clone(s.over), s.hold)
	for _, from := range s.since {
		list = append(list, events.TimeSpan{From: from, To: at})
	}
	return list
}

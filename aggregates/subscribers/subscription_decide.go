package subscribers

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// decideSubscription dispatches; every command but the first needs a subscription that exists.
func decideSubscription(
	s Subscription, c commands.SubscriptionCommand, now time.Time,
) ([]events.SubscriptionEvent, error) {
	if create, ok := c.(commands.CreateSubscription); ok {
		return decideCreate(s, create, now)
	}
	if s.ID.IsZero() {
		return nil, commands.ErrNoSubscription()
	}
	switch c := c.(type) {
	case commands.CreateSubscription:
	case commands.MakePeriodDue:
		return decidePeriodDue(s, c, now), nil
	case commands.ExtendSubscription:
		return decideExtend(s, c), nil
	case commands.WithdrawPeriod:
		return decideWithdraw(s, c), nil
	case commands.CancelPeriod:
		if !slices.Contains(s.Open, c.InvoiceID) {
			return nil, nil
		}
		return []events.SubscriptionEvent{events.PeriodCancelled{SubscriptionID: s.ID, SubscriberID: s.SubscriberID,
			InvoiceID: c.InvoiceID, At: now}}, nil
	case commands.PauseSubscription:
		return decidePause(s, c, now)
	case commands.ResumeSubscription:
		return decideResume(s, c, now)
	case commands.EndSubscription:
		if s.State == Ended {
			return nil, nil
		}
		return []events.SubscriptionEvent{events.SubscriptionEnded{SubscriptionID: s.ID, SubscriberID: s.SubscriberID,
			Reason: c.Reason, At: now}}, nil
	}
	return nil, nil
}

// decideCreate creates the subscription and its first due period. A prepaid period starts when it is paid. A postpaid
// period starts at once, or on StartsAt, and is payable at its end; one that starts later becomes due on its day.
func decideCreate(s Subscription, c commands.CreateSubscription, now time.Time) ([]events.SubscriptionEvent, error) {
	if !s.ID.IsZero() {
		return nil, failure.NewConflict("subscription_exists", "This subscription exists already.")
	}
	starts := c.StartsAt
	if starts.IsZero() {
		starts = now
	}
	created := events.SubscriptionCreated{
		SubscriptionID: c.SubscriptionID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, PlanID: c.PlanID,
		PlanVersion: c.PlanVersion, Terms: c.Terms, Timezone: c.Timezone, StartsAt: starts,
		Username: c.Username, PasswordRef: c.PasswordRef, CreatedAt: now,
	}
	made := []events.SubscriptionEvent{created}
	s = evolveSubscription(s, created)
	if c.Terms.Mode == events.Postpaid && starts.After(now) {
		return made, nil
	}
	return append(made, due(s, c.InvoiceID, now)...), nil
}

// decidePeriodDue makes the next period due. It gives no event while the subscription is ended or paused, while a
// prepaid invoice is unpaid, or before the present postpaid period ends.
func decidePeriodDue(s Subscription, c commands.MakePeriodDue, now time.Time) []events.SubscriptionEvent {
	prepaidWaits := s.Terms.Mode == events.Prepaid && len(s.Open) > 0
	postpaidEarly := s.Terms.Mode == events.Postpaid && (s.LastTo.After(now) || s.StartsAt.After(now))
	_, paid := s.Paid[c.InvoiceID]
	if s.State == Ended || s.State == Paused || prepaidWaits || postpaidEarly || paid ||
		slices.Contains(s.Open, c.InvoiceID) {
		return nil
	}
	return due(s, c.InvoiceID, now)
}

// due makes the events of the next period; the first postpaid period also activates the subscription.
func due(s Subscription, invoice id.Invoice, now time.Time) []events.SubscriptionEvent {
	period := events.PeriodDue{
		SubscriptionID: s.ID, OrgID: s.Owner, SubscriberID: s.SubscriberID, InvoiceID: invoice,
		PlanName: s.Terms.Name, Terms: s.Terms,
	}
	if s.Terms.Mode == events.Prepaid {
		period.DueAt = latest(now, s.StartsAt, s.PaidUntil)
		return []events.SubscriptionEvent{period}
	}
	period.From = latest(s.StartsAt, s.LastTo)
	period.To = s.Terms.Period.After(period.From, s.anchorFor(period.From), s.zone())
	period.DueAt = period.To
	if s.State != Pending {
		return []events.SubscriptionEvent{period}
	}
	return []events.SubscriptionEvent{
		events.SubscriptionActivated{SubscriptionID: s.ID, SubscriberID: s.SubscriberID, At: period.From}, period,
	}
}

// decideExtend moves PaidUntil (docs/rules/subscribers.md#prepaid). A prepaid period that is paid before expiry
// continues the previous one; one that is paid later starts with the payment. A postpaid period is the one of the
// invoice.
func decideExtend(s Subscription, c commands.ExtendSubscription) []events.SubscriptionEvent {
	if _, already := s.Paid[c.InvoiceID]; already || s.State == Ended {
		return nil
	}
	from, to := c.PeriodFrom, c.PeriodTo
	if s.Terms.Mode == events.Prepaid {
		from = latest(s.running(c.PaidAt), s.StartsAt, s.PaidUntil)
		anchor := s.AnchorDay
		if !from.Equal(s.PaidUntil) {
			anchor = from.In(s.zone()).Day()
		}
		to = s.Terms.Period.After(from, anchor, s.zone())
	}
	to = latest(to, s.PaidUntil)
	extended := events.SubscriptionExtended{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, InvoiceID: c.InvoiceID, From: from, PaidUntil: to,
	}
	if s.State != Pending {
		return []events.SubscriptionEvent{extended}
	}
	return []events.SubscriptionEvent{
		events.SubscriptionActivated{SubscriptionID: s.ID, SubscriberID: s.SubscriberID, At: from}, extended,
	}
}

// running is the instant on the subscription's own clock, which stops during a pause.
func (s Subscription) running(at time.Time) time.Time {
	if s.State == Paused && at.After(s.PausedAt) {
		return s.PausedAt
	}
	return at
}

// decideWithdraw takes the length of a paid period from PaidUntil, so that later periods begin earlier.
func decideWithdraw(s Subscription, c commands.WithdrawPeriod) []events.SubscriptionEvent {
	span, paid := s.Paid[c.InvoiceID]
	if !paid {
		return nil
	}
	left := s.PaidUntil.Add(-span.To.Sub(span.From))
	if len(s.Paid) == 1 {
		left = span.From
	}
	return []events.SubscriptionEvent{events.PeriodWithdrawn{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, InvoiceID: c.InvoiceID, PaidUntil: left, Reason: c.Reason,
	}}
}

// decidePause pauses an active subscription; a paused one gives no event.
func decidePause(s Subscription, c commands.PauseSubscription, now time.Time) ([]events.SubscriptionEvent, error) {
	switch s.State {
	case Paused:
		return nil, nil
	case Active:
		return []events.SubscriptionEvent{events.SubscriptionPaused{SubscriptionID: s.ID, SubscriberID: s.SubscriberID,
			Reason: c.Reason, At: now}}, nil
	}
	return nil, failure.NewConflict("subscription_not_active", "Only an active subscription can be paused.")
}

// decideResume adds the length of the pause to the paid time, and to the running postpaid period, so that the pause is
// not billed.
func decideResume(s Subscription, c commands.ResumeSubscription, now time.Time) ([]events.SubscriptionEvent, error) {
	switch s.State {
	case Active:
		return nil, nil
	case Paused:
		pause := now.Sub(s.PausedAt)
		resumed := events.SubscriptionResumed{
			SubscriptionID: s.ID, SubscriberID: s.SubscriberID, Reason: c.Reason, PaidUntil: s.PaidUntil, At: now,
		}
		if s.PaidUntil.After(s.PausedAt) {
			resumed.PaidUntil = s.PaidUntil.Add(pause)
		}
		if s.Terms.Mode == events.Postpaid && !s.LastTo.IsZero() {
			resumed.NextFrom = s.LastTo.Add(pause)
		}
		return []events.SubscriptionEvent{resumed}, nil
	}
	return nil, failure.NewConflict("subscription_not_paused", "Only a paused subscription can be resumed.")
}

// latest is the last of the instants; zero instants do not count.
func latest(instants ...time.Time) time.Time {
	var last time.Time
	for _, t := range instants {
		if t.After(last) {
			last = t
		}
	}
	return last
}

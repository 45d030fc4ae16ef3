package subscribers

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// takenBack records that a compensation was undone.
func (s Subscription) takenBack(e events.CompensationTakenBack) Subscription {
	s = s.told(e.At)
	s.Compensated = slices.Clone(s.Compensated)
	for i := range s.Compensated {
		if s.Compensated[i].ID == e.CompensationID {
			s.Compensated[i].TakenBack = true
		}
	}
	if at := slices.Index(s.Grants, Grant{e.GivenAt, e.Days}); e.Days > 0 && at >= 0 {
		s.Grants = slices.Delete(slices.Clone(s.Grants), at, at+1)
	}
	return s
}

// Given finds a compensation that is remembered.
func (s Subscription) Given(of id.Compensation) (Compensated, bool) {
	at := slices.IndexFunc(s.Compensated, func(k Compensated) bool { return k.ID == of })
	if at < 0 {
		return Compensated{}, false
	}
	return s.Compensated[at], true
}

// decideTakeBackCompensation takes days off the paid time again, as long as none of them was used, and no change to a
// dearer plan was charged for them. Source: docs/rules/billing.md#undo.
func decideTakeBackCompensation(
	s Subscription, c commands.TakeBackCompensation, now time.Time,
) ([]events.SubscriptionEvent, error) {
	given, known := s.Given(c.CompensationID)
	switch {
	case !known || given.At.IsZero():
		return nil, failure.NewConflict("compensation_too_old",
			"This time is too long ago: what was given for it before is no longer known.")
	case given.TakenBack:
		return nil, nil
	case given.Days > 0 && !slices.Contains(s.Grants, Grant{given.GivenAt, given.Days}):
		return nil, errCompensationUsed()
	}
	event := events.CompensationTakenBack{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, CompensationID: given.ID, From: given.From, To: given.To,
		Days: given.Days, GivenAt: given.GivenAt, At: now,
	}
	before, next := s.Course(), evolveSubscription(s, event)
	after := next.Course()
	if given.Days > 0 && (s.State == Ended || s.extendedBefore(next, given.GivenAt).Before(s.running(now))) {
		return nil, errCompensationUsed()
	}
	if given.Days > 0 && s.upgradedSince(given.At) { // the price of the dearer plan is paid for these days, too
		return nil, commands.ErrCorrectedSince()
	}
	event.PaidUntil, event.Moved = after.PaidUntil, moved(s.Periods, before, after, -1)
	return []events.SubscriptionEvent{event}, nil
}

// extendedBefore is where the time in which days were given ends without them: of a period, or that was paid in another
// system. What was paid ahead comes after those days, so that they are used before it begins. next is the subscription
// without the grant.
func (s Subscription) extendedBefore(next Subscription, givenAt time.Time) time.Time {
	in := func(place Span) bool { return !givenAt.Before(place.From) && givenAt.Before(place.To) }
	before, after := s.Course(), next.Course()
	if at := slices.IndexFunc(before.Places, in); at >= 0 {
		return after.Places[at].To
	}
	if in(s.elsewhere()) {
		return next.elsewhere().To
	}
	return after.PaidUntil
}

// errCompensationUsed refuses days that the customer has had already.
func errCompensationUsed() error {
	return failure.NewConflict("compensation_used", "The days that were given are used already.")
}

// TakingBack fails as taking a compensation back would, without doing it: the decision itself is asked.
func (s Subscription) TakingBack(of id.Compensation, now time.Time) error {
	_, err := decideSubscription(s, commands.TakeBackCompensation{SubscriptionID: s.ID, CompensationID: of}, now)
	return err
}

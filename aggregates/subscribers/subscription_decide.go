package subscribers

import (
	"cmp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
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
		return decideExtend(s, c, now)
	case commands.WithdrawPeriod:
		return decideWithdraw(s, c, now)
	case commands.CancelPeriod:
		return decideCancel(s, c, now)
	case commands.ReissuePeriod:
		return decideReissuePeriod(s, c, now)
	case commands.UndoPeriod:
		return decideUndoPeriod(s, c, now)
	case commands.PauseSubscription:
		return decidePause(s, c, now)
	case commands.ResumeSubscription:
		return decideResume(s, c, now)
	case commands.EndSubscription:
		return decideEnd(s, c, now), nil
	case commands.ExpireSubscription:
		return decideExpire(s, now), nil
	case commands.CompensateSubscription:
		return decideCompensate(s, c, now)
	case commands.SuspendBilling:
		return decideSuspendBilling(s, c), nil
	case commands.ResumeBilling:
		return s.billingResumed(c.At), nil
	case commands.ChangePlan, commands.UndoPlanMove, commands.MovePlan, commands.ApplyPlanChange, commands.AddExtra,
		commands.RemoveExtra:
		return decidePrice(s, c, now)
	case commands.TakeBackCompensation:
		return decideTakeBackCompensation(s, c, now)
	case commands.AssignAddresses:
		return decideAddresses(s, c, now)
	case commands.SetCredentials:
		return decideCredentials(s, c, now)
	case commands.ShowCredentials:
		return []events.SubscriptionEvent{events.SubscriptionCredentialsShown{
			SubscriptionID: s.ID, SubscriberID: s.SubscriberID, PasswordRef: c.PasswordRef, At: now,
		}}, nil
	}
	return nil, nil
}

// decidePrice dispatches what changes the price of the next invoices.
func decidePrice(s Subscription, c commands.SubscriptionCommand, now time.Time) ([]events.SubscriptionEvent, error) {
	switch c := c.(type) {
	case commands.ChangePlan:
		return decideChangePlan(s, c, now)
	case commands.UndoPlanMove:
		return decideUndoMove(s, c, now)
	case commands.MovePlan:
		return decideMovePlan(s, c, now)
	case commands.ApplyPlanChange:
		return decideApplyChange(s, now), nil
	case commands.AddExtra:
		return decideAddExtra(s, c, now)
	case commands.RemoveExtra:
		return decideRemoveExtra(s, c, now)
	default: // the others change no price
	}
	return nil, nil
}

// decideCreate creates the subscription with its addresses, and its first due period. A prepaid period starts when it
// is paid. A postpaid period starts at once, or on StartsAt, and is payable at its end; one that starts later becomes
// due on its day.
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
		PlanVersion: c.PlanVersion, Terms: c.Terms, Timezone: c.Timezone, Tax: c.Tax, StartsAt: starts,
		Username: c.Username, PasswordRef: c.PasswordRef, CreatedAt: now,
	}
	made := []events.SubscriptionEvent{created}
	s = evolveSubscription(s, created)
	if !c.Addresses.IsZero() {
		made = append(made, assigned(s, c.Addresses, now))
	}
	for _, x := range c.Extras {
		added, err := decideAddExtra(s, x, now)
		if err != nil {
			return nil, err
		}
		s, made = evolveSubscription(s, added[0]), append(made, added...)
	}
	if carried := carriedOver(s, c.PaidUntil, now); carried != nil {
		return append(made, carried...), nil
	}
	if c.Terms.Mode == events.Postpaid && starts.After(now) {
		return made, nil
	}
	return append(made, servedElsewhere(due(s, now), !c.PaidUntil.IsZero())...), nil
}

// periodDue makes the next period due. It gives no event while the subscription is ended or paused, while a prepaid
// period waits for money, or before the present postpaid period ends; asked for a day, nor before the period becomes
// due on it; nor while a customer is cut off who is not billed for that. A prepaid period after one that was dropped
// waits for its day or for credit, and what an undo took back for a person or for money.
func (s Subscription) periodDue(c commands.MakePeriodDue, now time.Time) []events.SubscriptionEvent {
	switch {
	case s.State == Ended || s.State == Paused || !s.Suspended.IsZero() || !s.Undone.IsZero():
		return nil
	case s.Terms.Mode == events.Prepaid && slices.ContainsFunc(s.Periods, Period.open):
		return nil
	case !c.On.IsZero():
		if !s.dueOn(c.On, now) {
			return nil
		}
	case c.Rang && !s.comes():
		return nil
	case s.Terms.Mode == events.Postpaid && (s.Course().End.After(now) || s.StartsAt.After(now)):
		return nil
	}
	made := due(s, now)
	for i, e := range made {
		if period, ok := e.(events.PeriodDue); ok {
			period.RunID = c.RunID
			made[i] = period
		}
	}
	return made
}

// due makes the events of the next period; the first postpaid period also activates the subscription.
func due(s Subscription, now time.Time) []events.SubscriptionEvent {
	ordinal, course := s.lastOrdinal()+1, s.Course()
	terms := withoutAccess(s.nextTerms())
	period := events.PeriodDue{
		SubscriptionID: s.ID, OrgID: s.Owner, SubscriberID: s.SubscriberID, InvoiceID: s.invoiceOf(ordinal),
		Ordinal: ordinal, PlanName: terms.Name, Terms: terms, KeepsTime: true, At: now,
		NextTerms: s.newTerms(ordinal, ordinal+1),
	}
	if terms.Mode == events.Prepaid {
		period.DueAt, period.Retakes = latest(now, s.StartsAt, course.PaidUntil), s.nextRetakes()
		if terms.AnchorDay > 0 {
			period = s.byBillingDay(period, s.partFrom(period.DueAt))
		}
		if period.Retakes {
			period.NextFrom = s.nextPlace(period)
		}
		return []events.SubscriptionEvent{s.withExtras(period)}
	}
	period.From = latest(s.StartsAt, s.afterPause(course.End))
	if terms.AnchorDay > 0 {
		period = s.byBillingDay(period, period.From)
	}
	period.To = evolveSubscription(s, period).Course().End
	period.DueAt, period.Credits = period.To, s.pausedBefore(period)
	period = s.withExtras(period)
	if s.State != Pending {
		return []events.SubscriptionEvent{period}
	}
	return []events.SubscriptionEvent{
		events.SubscriptionActivated{SubscriptionID: s.ID, SubscriberID: s.SubscriberID, At: period.From}, period,
	}
}

// invoiceOf is the id of the invoice of the subscription's period.
func (s Subscription) invoiceOf(ordinal int) id.Invoice { return commands.PeriodInvoice(s.ID, ordinal) }

// wanted finds the period of a command; -1 when the invoice is of no period. Fails: period_archived.
func (s Subscription) wanted(invoice id.Invoice) (int, error) {
	if s.Archived(invoice) {
		return -1, commands.ErrPeriodArchived()
	}
	return s.find(invoice), nil
}

// decideExtend records the payment of a period, the first one or the one after a withdrawal, and the places of the
// periods after it. A prepaid period of an ended subscription that never began is cancelled instead: its money goes
// back to credit.
func decideExtend(
	s Subscription, c commands.ExtendSubscription, now time.Time,
) ([]events.SubscriptionEvent, error) {
	at, err := s.wanted(c.InvoiceID)
	if err != nil || at < 0 || !s.Periods[at].open() {
		return nil, err
	}
	p, before := s.Periods[at], s.Course()
	if s.State == Ended && s.neverServed(at, now) {
		return []events.SubscriptionEvent{s.withCharges(cancelled(s, at, now))}, nil
	}
	paid := events.SubscriptionExtended{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, InvoiceID: p.InvoiceID, Ordinal: p.Ordinal,
		PaidAt: c.PaidAt, Part: c.Part,
	}
	if paid.Begins, paid.WithoutAccess = s.begins(p, before, c.PaidAt, c.Served); p.BillingDay > 0 {
		return s.paidByBillingDay(at, paid, c.Served), nil
	}
	switch off := s.unserved(before, c.PaidAt); {
	case off.IsZero():
	case s.termsOf(p).LateRenewal == events.FromExpiry:
		paid.WithoutAccess = joined(paid.WithoutAccess, notServed(off, c.Served))
	default:
		paid.UnservedFrom, paid.UnservedTo = off.From, off.To
	}
	return s.extendedBy(at, paid), nil
}

// extendedBy completes the payment of the period at an index by what follows from it: the places of all periods, the
// paid time, and the start of service.
func (s Subscription) extendedBy(at int, paid events.SubscriptionExtended) []events.SubscriptionEvent {
	next := evolveSubscription(s, paid)
	if next.owesTime() {
		since := s.running(paid.PaidAt)
		if s.Periods[at].BillingDay > 0 { // the next one gives back those days that lie behind this one
			since = earliest(since, next.PaidUntil())
		}
		paid.UnservedSince = latest(s.UnservedSince, since)
	}
	after := next.Course()
	place := after.Places[at]
	paid.From, paid.To, paid.PaidUntil = place.From, place.To, after.PaidUntil
	paid.Moved, paid.NextFrom = moved(s.Periods, s.Course(), after, at), after.waitsAt()
	if s.State != Pending {
		return []events.SubscriptionEvent{paid}
	}
	return []events.SubscriptionEvent{
		events.SubscriptionActivated{
			SubscriptionID: s.ID, SubscriberID: s.SubscriberID, At: latest(place.From, paid.PaidAt),
		},
		paid,
	}
}

// begins is the instant at which paid time begins anew with the first payment of a prepaid period: the payment on the
// subscription's own clock, not before the service. It is zero when the payment continues paid time. A payment that was
// withdrawn before instants of withdrawals were recorded counts as none. A period that retakes a place begins there.
// Where terms count from the expiry, fromExpiry gives both results.
func (s Subscription) begins(
	p Period, before Course, paidAt time.Time, served []events.TimeSpan,
) (begins time.Time, off []events.TimeSpan) {
	first := !p.Retakes && (p.State == PeriodDue || s.UnservedSince.IsZero())
	begins = latest(s.running(paidAt), s.StartsAt)
	switch {
	case p.Mode != events.Prepaid || p.BillingDay > 0 || !first || !begins.After(before.PaidUntil):
		return time.Time{}, nil
	case s.termsOf(p).LateRenewal == events.FromExpiry && !before.PaidUntil.IsZero() && begins.After(before.End):
		return fromExpiry(Span{before.End, begins}, served)
	}
	return begins, nil
}

// fromExpiry places a period that is paid late under terms that count from the expiry. since lies between the end of
// the periods before it and the payment; served are the times in it that count. The period begins with the first of
// them, or with the payment when there is none; a zero instant says that it continues the one before it. off are the
// times after its beginning that do not count. Source: docs/rules/subscribers.md#late-renewal.
func fromExpiry(since Span, served []events.TimeSpan) (begins time.Time, off []events.TimeSpan) {
	off = notServed(since, served)
	if len(off) == 0 || !off[0].From.Equal(since.From) {
		return time.Time{}, off
	}
	return off[0].To, notServed(Span{off[0].To, since.To}, served)
}

// notServed lists the times in a span that are in none of those that were served.
func notServed(in Span, served []events.TimeSpan) (off []events.TimeSpan) {
	var counted []Span
	for _, t := range served {
		counted = withGap(counted, Span{latest(t.From, in.From), earliest(t.To, in.To)})
	}
	from := in.From
	for _, c := range append(counted, Span{in.To, in.To}) {
		if from.Before(c.From) {
			off = append(off, events.TimeSpan{From: from, To: c.From})
		}
		from = c.To
	}
	return off
}

// joined lists the times that are in either list.
func joined(a, b []events.TimeSpan) (all []events.TimeSpan) {
	var spans []Span
	for _, t := range slices.Concat(a, b) {
		spans = withGap(spans, Span(t))
	}
	for _, s := range spans {
		all = append(all, events.TimeSpan(s))
	}
	return all
}

// unserved is the time up to a payment that was not served because the payment of a period had been taken back. It is
// zero for postpaid, whose service does not depend on payments.
func (s Subscription) unserved(before Course, paidAt time.Time) Span {
	from, to := latest(s.UnservedSince, before.PaidUntil), s.running(paidAt)
	if s.UnservedSince.IsZero() || s.Terms.Mode != events.Prepaid || !from.Before(to) {
		return Span{}
	}
	return Span{from, to}
}

// running is the instant on the subscription's own clock, which stops during a pause, and while a customer is cut off
// who pays for used days only.
func (s Subscription) running(at time.Time) time.Time {
	if s.State == Paused && at.After(s.PausedAt) {
		return s.PausedAt
	}
	if s.Suspended.stops() && at.After(s.Suspended.At) {
		return s.Suspended.At
	}
	return at
}

// stopped is the new UnservedSince after a period lost its payment now. When the paid time was over before, or the
// customer was without service already for want of an earlier payment, the time since then counts too. next is the
// subscription afterwards.
func (s Subscription) stopped(before Course, next Subscription, now time.Time) time.Time {
	at := s.running(now)
	switch {
	case !next.owesTime():
		return time.Time{}
	case s.UnservedSince.IsZero() && before.PaidUntil.IsZero():
		return at
	case s.UnservedSince.IsZero():
		return earliest(at, before.PaidUntil)
	}
	return earliest(at, latest(s.UnservedSince, before.PaidUntil))
}

// withdrawn reports whether the payment of the period was taken back.
func (p Period) withdrawn() bool { return p.State == PeriodWithdrawn }

// neverServed reports whether the period at an index is prepaid and waits for money, and no time of it was ever given:
// it was never paid, or its payment was taken back before its time came. One that retakes a place counts as one whose
// payment was taken back. Time that was given belongs to the paid periods first, and then to the withdrawn ones in
// their order.
func (s Subscription) neverServed(at int, now time.Time) bool {
	p := s.Periods[at]
	if p.Mode != events.Prepaid || !s.paidOnce(at) {
		return p.Mode == events.Prepaid && p.State == PeriodDue
	}
	over := s.stopsAt(now)
	asPaid := s.paidBefore(at)
	before := asPaid.given(over)
	asPaid.Periods[at].State = PeriodPaid
	return asPaid.given(over) <= before
}

// stopsAt is the instant from which time counts as not served, or now: service ended, or waits for money that was taken
// back.
func (s Subscription) stopsAt(now time.Time) time.Time {
	over := s.servedUntil(now)
	if !s.UnservedSince.IsZero() {
		over = earliest(over, latest(s.UnservedSince, s.PaidUntil()))
	}
	return over
}

// servedUntil is now on the subscription's own clock, and at most its end.
func (s Subscription) servedUntil(now time.Time) time.Time {
	at := s.running(now)
	if s.State == Ended {
		at = earliest(at, cmp.Or(s.EndedAt, at))
	}
	return at
}

// paidBefore is the subscription as it would be if those periods before the one at an index were paid that were paid
// once.
func (s Subscription) paidBefore(at int) Subscription {
	s.Periods = slices.Clone(s.Periods)
	for i := range at {
		if s.paidOnce(i) {
			s.Periods[i].State = PeriodPaid
		}
	}
	return s
}

// given is how much time the paid periods gave up to an instant, without the gaps.
func (s Subscription) given(until time.Time) time.Duration {
	var sum time.Duration
	for i, place := range s.Course().Places {
		if s.Periods[i].State != PeriodPaid {
			continue
		}
		sum += place.until(until)
		for _, g := range s.Gaps {
			sum -= Span{latest(g.From, place.From), earliest(g.To, place.To)}.until(until)
		}
	}
	return sum
}

// decideWithdraw takes the time of a paid period back; the periods that stay paid keep their full length. A period that
// is not paid gives no event. When the subscription ended before the period began, the period is cancelled as well.
func decideWithdraw(s Subscription, c commands.WithdrawPeriod, now time.Time) ([]events.SubscriptionEvent, error) {
	at, err := s.wanted(c.InvoiceID)
	if err != nil || at < 0 || s.Periods[at].State != PeriodPaid {
		return nil, err
	}
	withdrawn := events.PeriodWithdrawn{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, InvoiceID: c.InvoiceID, Ordinal: s.Periods[at].Ordinal,
		Reason: personal.Of(c.Reason), At: now,
	}
	before, next := s.Course(), evolveSubscription(s, withdrawn)
	after := next.Course()
	withdrawn.PaidUntil, withdrawn.Moved = after.PaidUntil, moved(s.Periods, before, after, -1)
	withdrawn.UnservedSince, withdrawn.NextFrom = s.stopped(before, next, now), after.waitsAt()
	made := []events.SubscriptionEvent{withdrawn}
	if next = evolveSubscription(s, withdrawn); s.State == Ended && next.neverServed(at, now) {
		made = append(made, next.withCharges(cancelled(next, at, now)))
	}
	return made, nil
}

// decideCancel drops a period whatever it was, so that a credit note and a reversed payment end alike in either order.
func decideCancel(s Subscription, c commands.CancelPeriod, now time.Time) ([]events.SubscriptionEvent, error) {
	at, err := s.wanted(c.InvoiceID)
	if err != nil || at < 0 || s.Periods[at].State == PeriodCancelled {
		return nil, err
	}
	return []events.SubscriptionEvent{s.withCharges(cancelled(s, at, now))}, nil
}

// withCharges drops the charges of a period with it: no other invoice is to have them.
func (s Subscription) withCharges(dropped events.PeriodCancelled) events.PeriodCancelled {
	dropped.DropsCharges = s.Extras.ChargedOn(dropped.Ordinal)
	return dropped
}

// cancelled makes the event that drops the period at an index.
func cancelled(s Subscription, at int, now time.Time) events.PeriodCancelled {
	p := s.Periods[at]
	event := events.PeriodCancelled{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, InvoiceID: p.InvoiceID, Ordinal: p.Ordinal,
		NeverBegan: s.neverServed(at, now), At: now,
	}
	if event.NeverBegan || s.paidAhead(at, now) {
		event.Credits = s.allUpgrades(at)
	}
	if end := s.Course().Places[at].To; s.givenBack(at) && !end.After(s.running(now)) {
		event.NextBegins = end
	}
	return s.dropped(event, now)
}

// dropped completes the event by what follows from it.
func (s Subscription) dropped(event events.PeriodCancelled, now time.Time) events.PeriodCancelled {
	before, next := s.Course(), evolveSubscription(s, event)
	after := next.Course()
	event.PaidUntil, event.Moved = after.PaidUntil, moved(s.Periods, before, after, -1)
	event.UnservedSince = s.stopped(before, next, now)
	if event.UndoneRun.IsZero() {
		event.NextFrom = after.waitsAt()
	}
	return event
}

// decideExpire ends a prepaid subscription that has waited long enough for its first payment.
func decideExpire(s Subscription, now time.Time) []events.SubscriptionEvent {
	if s.State != Pending || s.Terms.Mode != events.Prepaid || now.Before(s.StartsAt.Add(commands.PendingFor)) {
		return nil
	}
	return decideEnd(s, commands.EndSubscription{Reason: commands.ExpiredReason}, now)
}

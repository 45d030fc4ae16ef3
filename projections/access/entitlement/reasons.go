package entitlement

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofSubscription returns the reasons of one subscription alone. A new rule about subscriptions adds its reason here.
func ofSubscription(s Subscription, at time.Time) []Reason {
	reasons := []Reason{ofStanding(s, at)}
	if reasons[0].Allows == None {
		return reasons // what else there is would give nothing back
	}
	if s.Mode == events.Postpaid && s.Dunning != nil && s.Dunning.State.Cut() {
		reasons = append(reasons, s.Dunning.reason(s.Dunning.State))
	}
	if used := s.Used; used != nil && (used.Until.IsZero() || used.Until.After(at)) {
		reason := because(CodeCapThrottled, Throttled, used.Since, Cause{"event", id.Any(used.EventID)})
		if s.Terms.Cap.Then == events.CapStop {
			reason.Code, reason.Allows = CodeCapStopped, None
		}
		reasons = append(reasons, reason)
	}
	if w, ok := windowAt(s.Terms.Schedule, at, s.zone()); ok {
		reasons = append(reasons, because(CodeSchedule, Full, w.begins, Cause{"subscription", id.Any(s.ID)}))
	}
	return reasons
}

// ofStanding returns the reason that follows from the subscription's life and its payments. The instant PaidUntil is no
// longer paid for; the first instant of a service that starts later already belongs to it.
//
// What is paid counts before anything that dunning has recorded, so a payment restores at once and nobody who has paid
// is cut by a step that comes late. After PaidUntil dunning decides alone: by its recorded step, or by a grace or a
// walled garden that it is about to record. Where it expects neither, the service is over.
func ofStanding(s Subscription, at time.Time) Reason {
	itself := Cause{"subscription", id.Any(s.ID)}
	owed := itself
	if !s.OpenInvoice.IsZero() {
		owed = Cause{"invoice", id.Any(s.OpenInvoice)}
	}
	switch {
	case s.Standing == Ended:
		return because(CodeEnded, None, s.Since, s.stood(itself))
	case s.Standing == Paused:
		return because(CodePaused, None, s.Since, s.stood(itself))
	case s.notBefore().After(at):
		return because(CodeNotStarted, None, s.CreatedAt, itself)
	case s.Standing != Active:
		return because(CodeAwaitingPayment, None, s.CreatedAt, owed)
	case s.Mode == events.Postpaid:
		return because(CodePostpaid, Full, s.Since, itself)
	case s.PaidUntil.After(at):
		return s.paid(itself)
	case s.PaidUntil.IsZero():
		return because(CodeExpired, None, s.over(), owed)
	case s.Dunning != nil && s.Dunning.afterPaid() != events.DunningNone:
		r := s.Dunning.reason(s.Dunning.afterPaid())
		if s.Dunning.State.Rank() == 0 {
			r.Cause = owed // no event has recorded the step yet
		}
		if over := s.over(); r.Since.Before(over) {
			r.Since = over
		}
		return r
	}
	return because(CodeExpired, None, s.over(), owed)
}

// over is since when nothing is paid for. A payment that was taken back or moved away had given access until then, so
// PaidUntil alone, which is earlier or zero afterwards, would tell an outage that nobody had. Without any paid time it
// is the beginning of the standing.
func (s Subscription) over() time.Time {
	switch {
	case s.LostAt.After(s.PaidUntil):
		if s.LostAt.Before(s.StartsAt) { // it had given nothing yet
			return s.StartsAt
		}
		return s.LostAt
	case s.PaidUntil.IsZero():
		return s.Since
	}
	return s.PaidUntil
}

// lost is LostAt after a correction at an instant. It never goes back: what was had before an earlier correction was
// had. The clock of the paid time stands still in a pause.
func (s Subscription) lost(at time.Time) time.Time {
	if s.Standing == Paused && s.Since.Before(at) {
		at = s.Since
	}
	if s.PaidUntil.Before(at) {
		at = s.PaidUntil
	}
	if at.Before(s.LostAt) {
		return s.LostAt
	}
	return at
}

// notBefore is the first instant of a service that was to start later than it was made. Zero = it was to start at once,
// and has started, also when the clock was ahead at that time and was put right since.
func (s Subscription) notBefore() time.Time {
	if !s.StartsAt.After(s.CreatedAt) {
		return time.Time{}
	}
	return s.StartsAt
}

// because makes a reason of the subscription whose reasons are collected.
func because(code Code, allows Access, since time.Time, cause Cause) Reason {
	return Reason{Code: code, Allows: allows, Since: since, Cause: cause}
}

// stood names the event that told the standing. Where it is not known, it names the subscription.
func (s Subscription) stood(itself Cause) Cause {
	if s.StandingBy.IsZero() {
		return itself
	}
	return Cause{"event", id.Any(s.StandingBy)}
}

// paid names the event that told the paid time. Where it is not known, it names the subscription since its standing.
func (s Subscription) paid(itself Cause) Reason {
	if s.Told.EventID.IsZero() {
		return because(CodePaid, Full, s.Since, itself)
	}
	r := because(CodePaid, Full, s.Told.At, Cause{"event", id.Any(s.Told.EventID)})
	if r.Since.Before(s.StartsAt) {
		r.Since = s.StartsAt
	}
	return r
}

// afterPaid is the step that counts when the paid time is over: the recorded one. Before there is one it is the grace
// or the walled garden that dunning expects, because to record it can take a while: a policy without grace leads to the
// walled garden at once, and while cuts wait for money nobody is to have less than after the cut.
func (d *Dunning) afterPaid() events.DunningState {
	if d.State.Rank() > 0 {
		return d.State
	}
	switch d.NextState {
	case events.DunningReminding, events.DunningWalledGarden:
		return d.NextState
	case events.DunningNone, events.DunningSuspended, events.DunningWrittenOff:
	}
	return events.DunningNone
}

// reason gives the access that a step of dunning leaves. Its cause is the event that recorded the step. A proposed
// write-off takes nothing more from a customer who is suspended, so the suspension stays the reason.
func (d *Dunning) reason(step events.DunningState) Reason {
	r := because(CodeGrace, Full, d.Since, Cause{"event", id.Any(d.EventID)})
	switch step {
	case events.DunningWalledGarden:
		r.Code, r.Allows = CodeOverdue, WalledGarden
	case events.DunningSuspended, events.DunningWrittenOff:
		r.Code, r.Allows = CodeSuspended, None
		if !d.Cut.EventID.IsZero() {
			r.Since, r.Cause = d.Cut.Since, Cause{"event", id.Any(d.Cut.EventID)}
		}
	case events.DunningNone, events.DunningReminding:
	}
	return r
}

// zone is the organization's time zone.
func (s Subscription) zone() *time.Location {
	if s.Zone == nil {
		return time.UTC
	}
	return s.Zone
}

package subscribers

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loginname"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Subscriptions defines the subscriptions: one stream for each, closed into periods because it grows with every paid
// period.
func Subscriptions() aggregates.Definition[Subscription, commands.SubscriptionCommand, events.SubscriptionEvent] {
	return aggregates.Definition[Subscription, commands.SubscriptionCommand, events.SubscriptionEvent]{
		Category: commands.SubscriptionCategory, Missing: commands.ErrNoSubscription, Evolve: evolveSubscription,
		Decide: decideSubscription, Owner: ownerSubscription, Claims: claimsSubscription, Close: closeSubscription,
		First: commands.CreateSubscription{},
		Commands: []commands.SubscriptionCommand{
			commands.CreateSubscription{}, commands.MakePeriodDue{}, commands.ExtendSubscription{},
			commands.WithdrawPeriod{}, commands.CancelPeriod{}, commands.ReissuePeriod{}, commands.PauseSubscription{},
			commands.ResumeSubscription{}, commands.SuspendBilling{}, commands.ResumeBilling{},
			commands.EndSubscription{}, commands.ExpireSubscription{},
			commands.AssignAddresses{}, commands.SetCredentials{}, commands.ShowCredentials{},
			commands.CompensateSubscription{}, commands.ChangePlan{}, commands.MovePlan{}, commands.ApplyPlanChange{},
			commands.UndoPlanMove{}, commands.AddExtra{}, commands.RemoveExtra{},
			commands.UndoPeriod{}, commands.TakeBackCompensation{},
		},
	}
}

// SubscriptionState is the state of a subscription. Source: docs/rules/subscribers.md#subscription-life.
type SubscriptionState string

// The states. Ended never changes again.
const (
	Pending SubscriptionState = "pending"
	Active  SubscriptionState = "active"
	Paused  SubscriptionState = "paused"
	Ended   SubscriptionState = "ended"
)

// Subscription is a plan that a subscriber has. The zero value is "does not exist". Evolve returns a new value and
// never changes the old one.
type Subscription struct {
	ID           id.Subscription
	Owner        id.Organization
	SubscriberID id.Subscriber
	PlanID       id.Plan // zero = it is not known, since the stream was closed before it was kept
	PlanVersion  int
	Terms        events.PlanTerms
	// Planned is the change to another plan that comes with a later period; the zero value is none.
	Planned PlannedChange
	// Former are the terms that earlier changes left, in the order of their periods.
	Former []Former
	// Moved is the latest move of many customers that took this one to another version.
	Moved PlanMoved
	// Changes counts the changes of plans and of their plans; each makes the previews before it stale.
	Changes int
	// Extras are on invoices beside the price of the plan. Called are their descriptions, which are personal as
	// Username is.
	Extras      events.Extras
	Called      []events.ExtraText
	Timezone    string // IANA name; days and months of periods are in this zone
	StartsAt    time.Time
	Username    personal.Text // personal: the closing event carries it sealed, outside the opening
	PasswordRef id.Secret     // of the present password
	FormerRef   id.Secret     // of the password before it, which the vault need not have any more; zero = none
	// Addresses are personal, as Username is.
	Addresses commands.ServiceAddresses
	State     SubscriptionState
	PausedAt  time.Time // start of the present pause; zero = not paused
	Suspended Suspension
	// EndedAt is when service ended, on the subscription's own clock; zero = not ended, or ended before it was kept.
	EndedAt time.Time
	// Base, Periods and Gaps are the facts from which the paid time follows; see Course.
	Base    Base
	Periods []Period // by ordinal
	// Gaps are pauses, the unserved time between a withdrawal and its repayment, and the times that a late renewal from
	// the expiry does not count: disjoint, in order of time.
	Gaps []Span
	// Grants are days that were given for times without service, in order of time.
	Grants []Grant
	// Compensated are the newest times for which something was given, and CompensatedUntil is the end of those that are
	// no longer remembered.
	Compensated      []Compensated
	CompensatedUntil time.Time
	// UnservedSince is as in events.SubscriptionExtended. An undo that took given time back counts as a withdrawal.
	UnservedSince time.Time
	Latest        time.Time // the latest instant that an event told
	// Dropped is when the newest change was that a period was cancelled; zero = it was another one.
	Dropped time.Time
	// Undone is the billing run of which an undo took the last period back; then the next period waits for that run,
	// when a person asks for it again, or for money. Zero = nothing waits.
	Undone id.BillingRun
}

// evolveSubscription applies one recorded event.
func evolveSubscription(s Subscription, e events.SubscriptionEvent) Subscription {
	s = s.extra(e)
	switch e := e.(type) {
	case events.SubscriptionCreated:
		return Subscription{
			ID: e.SubscriptionID, Owner: e.OrgID, SubscriberID: e.SubscriberID, PlanID: e.PlanID,
			PlanVersion: e.PlanVersion, Terms: e.Terms, Timezone: e.Timezone, StartsAt: e.StartsAt,
			Username: e.Username, PasswordRef: e.PasswordRef, State: Pending, Latest: e.CreatedAt,
		}
	case events.PeriodDue:
		return s.due(e)
	case events.SubscriptionActivated:
		s.State = Active
	case events.SubscriptionExtended:
		return s.extended(e)
	case events.PeriodWithdrawn:
		s = s.told(e.At).became(e.InvoiceID, e.Ordinal, func(p *Period) { p.State = PeriodWithdrawn })
		s.UnservedSince, s.Dropped = e.UnservedSince, time.Time{}
	case events.PeriodCancelled:
		return s.cancelled(e)
	case events.PeriodReissued:
		return s.told(e.At).became(e.InvoiceID, e.Ordinal, func(p *Period) { p.InvoiceID = e.CorrectedID })
	case events.SubscriptionPaused:
		s = s.told(e.At)
		s.State, s.PausedAt = Paused, e.At
	case events.SubscriptionResumed:
		s = s.told(e.At).paused(e.Credits)
		s.Gaps = withGap(s.Gaps, Span{s.PausedAt, e.At})
		s.State, s.PausedAt, s.Dropped = Active, time.Time{}, time.Time{}
	case events.BillingSuspended, events.BillingResumed, events.UndoneWaitEnded:
		return s.suspended(e)
	case events.SubscriptionCompensated:
		return s.compensated(e)
	case events.CompensationTakenBack:
		return s.takenBack(e)
	case events.SubscriptionEnded:
		s.State, s.EndedAt = Ended, s.running(e.At)
	case events.SubscriptionAddressesAssigned:
		s = s.told(e.At)
		s.Addresses = commands.ServiceAddresses{
			StaticIP: e.StaticIP, StaticIPv6Prefix: e.StaticIPv6Prefix, MACAddresses: e.MACAddresses, Routes: e.Routes,
		}
	case events.SubscriptionCredentialsSet:
		s = s.told(e.At)
		if s.Username = e.Username; e.PasswordRef != s.PasswordRef {
			s.PasswordRef, s.FormerRef = e.PasswordRef, s.PasswordRef
		}
	case events.SubscriptionCredentialsShown:
		return s.told(e.At)
	case events.PaidTimeCarriedOver:
		s = s.told(e.At)
		s.Base = elsewhere(e)
	case events.SubscriptionPlanChanged, events.PlanChangePlanned, events.PlanChangeMoved, events.PlanChangeDropped:
		return s.planned(e)
	case events.SubscriptionPeriodClosed:
		return reopened(e)
	default: // extra has taken them
	}
	return s
}

// due records a period that became due.
func (s Subscription) due(e events.PeriodDue) Subscription {
	s.Dropped, s.Undone = time.Time{}, id.BillingRun{}
	return s.told(e.At).became(e.InvoiceID, e.Ordinal, func(p *Period) {
		p.State, p.Mode, p.Unit, p.KeepsTime = PeriodDue, e.Terms.Mode, e.Terms.Period, e.KeepsTime
		p.BillingDay, p.Days, p.Retakes = e.Terms.AnchorDay, e.Part.Days, e.Retakes
		if !s.Planned.IsZero() || e.Terms.Price != s.Terms.Price {
			p.Price = e.Terms.Price
		}
		if p.Mode == events.Postpaid || e.From.After(s.Course().End) {
			p.Begins = e.From
		}
	}).paused(e.Credits)
}

// told remembers the instant of an event; zero for an event without one.
func (s Subscription) told(at time.Time) Subscription {
	s.Latest = latest(s.Latest, at)
	return s
}

// became edits the period of an invoice in a copy of the periods. A period that is not known yet is added under its
// ordinal, or under the next one when it was recorded without.
func (s Subscription) became(invoice id.Invoice, ordinal int, edit func(*Period)) Subscription {
	s.Periods = slices.Clone(s.Periods)
	at := s.find(invoice)
	if at < 0 {
		if ordinal == 0 {
			ordinal = s.lastOrdinal() + 1
		}
		at = len(s.Periods)
		s.Periods = append(s.Periods, Period{
			Ordinal: ordinal, InvoiceID: invoice, Mode: s.Terms.Mode, Unit: s.Terms.Period,
		})
	}
	edit(&s.Periods[at])
	return s
}

// cancelled records a dropped period, and for which run the next one waits when it was undone.
func (s Subscription) cancelled(e events.PeriodCancelled) Subscription {
	s = s.told(e.At).became(e.InvoiceID, e.Ordinal, func(p *Period) {
		p.State, p.Undone = PeriodCancelled, !e.UndoneRun.IsZero()
		p.Used = p.Undone && p.Mode == events.Prepaid && !e.NextFrom.IsZero()
	})
	for i := range s.Periods { // a copy
		if p := &s.Periods[i]; !e.NextBegins.IsZero() && p.Ordinal > e.Ordinal && p.State != PeriodCancelled {
			p.Begins = latest(p.Begins, e.NextBegins)
			break
		}
	}
	if s.UnservedSince, s.Dropped = e.UnservedSince, e.At; !e.UndoneRun.IsZero() {
		s = s.madeAgain(e.Ordinal)
		s.Undone = e.UndoneRun
	}
	return s
}

// extended records a paid period. One that was recorded without an ordinal began anew when it was after all paid time.
func (s Subscription) extended(e events.SubscriptionExtended) Subscription {
	begins := e.Begins
	if e.Ordinal == 0 && s.Terms.Mode == events.Prepaid && e.From.After(s.PaidUntil()) {
		begins = e.From
	}
	s = s.told(e.PaidAt).became(e.InvoiceID, e.Ordinal, func(p *Period) {
		p.State = PeriodPaid
		if !begins.IsZero() {
			p.Begins, p.Anchor = begins, 0
		}
		if !e.Part.IsZero() {
			p.Days, p.Of = e.Part.Days, e.Part.Of
		}
		for _, c := range e.Credits {
			if c.InvoiceID == e.InvoiceID {
				p.Free += c.Days
			}
		}
	})
	for _, c := range e.Credits { // of a later period, whose time stood for this one
		if c.InvoiceID != e.InvoiceID && s.find(c.InvoiceID) >= 0 {
			s = s.became(c.InvoiceID, 0, func(p *Period) { p.Free += c.Days })
		}
	}
	s.Gaps = withGap(s.Gaps, Span{e.UnservedFrom, e.UnservedTo})
	for _, off := range e.WithoutAccess {
		s.Gaps = withGap(s.Gaps, Span(off))
	}
	s.UnservedSince, s.Dropped = e.UnservedSince, time.Time{}
	return s
}

// find is the index of the kept period of an invoice, -1 without one.
func (s Subscription) find(invoice id.Invoice) int {
	return slices.IndexFunc(s.Periods, func(p Period) bool { return p.InvoiceID == invoice })
}

// lastOrdinal is the ordinal of the latest period; 0 before the first.
func (s Subscription) lastOrdinal() int {
	if len(s.Periods) == 0 {
		return s.Base.Ordinal
	}
	return max(s.Base.Ordinal, s.Periods[len(s.Periods)-1].Ordinal)
}

// Archived reports whether a correction of the invoice reaches behind what is kept: its period is settled, and too old
// to change. Whoever takes money back asks this before anything is withdrawn.
func (s Subscription) Archived(invoice id.Invoice) bool {
	return s.Base.Ordinal > 0 && s.find(invoice) < 0
}

// Period finds the period of an invoice. It is false for an invoice of no period, and for an archived one.
func (s Subscription) Period(invoice id.Invoice) (Period, bool) {
	at := s.find(invoice)
	if at < 0 {
		return Period{}, false
	}
	return s.Periods[at], true
}

// Open lists the invoices of periods that wait for money, oldest first.
func (s Subscription) Open() []id.Invoice {
	var open []id.Invoice
	for _, p := range s.Periods {
		if p.open() {
			open = append(open, p.InvoiceID)
		}
	}
	return open
}

// zone is the time zone of the periods; UTC for a name that is unknown here. The name was checked when the organization
// chose it.
func (s Subscription) zone() *time.Location {
	return calendar.ZoneOrUTC(s.Timezone)
}

// ownerSubscription: a subscription belongs to one organization for ever.
func ownerSubscription(s Subscription) id.Organization { return s.Owner }

// claimsSubscription claims the network username and the static addresses within the organization, until the
// subscription ends. Of usernames that are equal on the network one subscription has one.
func claimsSubscription(s Subscription) []commands.Claim {
	if s.ID.IsZero() || s.State == Ended {
		return nil
	}
	var claims []commands.Claim
	for _, c := range []commands.Claim{
		{
			Kind: "username", Value: loginname.Fold(s.Username.Reveal()), Code: "username_taken",
			Message: "This username is in use. Choose another one.",
		},
		{
			Kind: "static_ip", Value: s.Addresses.StaticIP.Reveal(), Code: "static_ip_taken",
			Message: "This address belongs to another subscription. Choose another one.",
		},
		{
			Kind: "static_ipv6_prefix", Value: s.Addresses.StaticIPv6Prefix.Reveal(),
			Code:    "static_ipv6_prefix_taken",
			Message: "This prefix belongs to another subscription. Choose another one.",
		},
	} {
		if c.Value != "" {
			c.Value = s.Owner.String() + "/" + c.Value
			claims = append(claims, c)
		}
	}
	return append(claims, routeClaims(s)...)
}

// routeClaims claims each route of a subscription. Routes of different lengths that overlap are refused before, by
// what is known of other customers.
func routeClaims(s Subscription) []commands.Claim {
	var claims []commands.Claim
	for _, route := range personal.RevealAll(s.Addresses.Routes) {
		claims = append(claims, commands.Claim{
			Kind: "route", Value: s.Owner.String() + "/" + route, Code: "route_taken",
			Message: "This network overlaps addresses of another customer. Choose another one.",
		})
	}
	return claims
}

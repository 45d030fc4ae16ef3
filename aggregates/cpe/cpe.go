// Package cpe has the rules of the equipment in customers' homes: whose it is, and what is done to it. Source:
// docs/rules/cpe.md#claim-and-assign.
package cpe

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// CPEs defines the CPEs: a stream for each, whose id follows from its identity. A stream stays short, because calls of
// a known CPE are no events.
func CPEs() aggregates.Definition[CPE, commands.CpeCommand, events.CpeEvent] {
	return aggregates.Definition[CPE, commands.CpeCommand, events.CpeEvent]{
		Category: commands.CpeCategory, Missing: commands.ErrNoCpe, Evolve: evolveCPE, Decide: decideCPE,
		Owner: ownerCPE, First: commands.IdentifyCpe{},
		Commands: []commands.CpeCommand{
			commands.IdentifyCpe{}, commands.LearnCpeDetails{}, commands.ClaimCpe{}, commands.AssignCpe{},
			commands.AssignSubscriberToCpe{}, commands.ReleaseCpe{}, commands.ClearCpeFault{},
			commands.ProveCpeSignIn{}, commands.EndCpeSignIn{},
		},
	}
}

// CPE is one device in a customer's home. The zero value does not exist.
type CPE struct {
	ID           id.CPE
	Identity     events.CpeIdentity
	Details      events.CpeDetails
	Org          id.Organization // zero = nobody has claimed it
	Subscriber   id.Subscriber   // zero = only the organization is known
	Subscription id.Subscription // that has the login; zero = there is none
	SignIn       int             // counts the passwords at the CPE server that are worth nothing any more
	Proven       bool            // it has shown the present one, and must from then on
}

// ownerCPE is the organization that has claimed it; until then the platform owns it
// (docs/rules/cpe.md#claim-and-assign).
func ownerCPE(s CPE) id.Organization { return s.Org }

// evolveCPE applies one recorded event.
func evolveCPE(s CPE, e events.CpeEvent) CPE {
	switch e := e.(type) {
	case events.CpeIdentified:
		return CPE{ID: e.CpeID, Identity: e.Identity}
	case events.CpeDetailsLearned:
		s.Details = e.Details
	case events.CpeClaimed:
		s.Org, s.Subscriber, s.Subscription = e.OrgID, e.SubscriberID, e.SubscriptionID
	case events.CpeAssigned:
		s.Org, s.Subscriber, s.Subscription = e.OrgID, e.SubscriberID, e.SubscriptionID
	case events.CpeDescribed, events.CpeFaultClearAsked: // for people alone
	case events.CpeSubscriberAssigned:
		s.Subscriber, s.Subscription = e.SubscriberID, e.SubscriptionID
	case events.CpeSubscriberRemoved:
		s.Subscriber, s.Subscription = id.Subscriber{}, id.Subscription{}
	case events.CpeReleased:
		s.Org, s.Subscriber, s.Subscription = id.Organization{}, id.Subscriber{}, id.Subscription{}
		return s.withNewSignIn()
	case events.CpeSignInProven:
		s.Proven = true
	case events.CpeSignInEnded:
		return s.withNewSignIn()
	}
	return s
}

// withNewSignIn makes the present password worth nothing.
func (s CPE) withNewSignIn() CPE {
	s.SignIn, s.Proven = s.SignIn+1, false
	return s
}

// decideCPE only dispatches.
func decideCPE(s CPE, c commands.CpeCommand, now time.Time) ([]events.CpeEvent, error) {
	if identify, first := c.(commands.IdentifyCpe); first {
		if !s.ID.IsZero() {
			return nil, nil
		}
		return only(events.CpeIdentified{CpeID: identify.CpeID, Identity: identify.Identity, At: now})
	}
	if s.ID.IsZero() {
		return nil, commands.ErrNoCpe()
	}
	switch c := c.(type) {
	case commands.IdentifyCpe: // above
	case commands.LearnCpeDetails:
		if s.Details != c.Details {
			return only(events.CpeDetailsLearned{CpeID: s.ID, OrgID: s.Org, Details: c.Details, At: now})
		}
	case commands.ClaimCpe:
		return decideClaimCpe(s, c, now)
	case commands.AssignCpe:
		if !s.Org.IsZero() {
			return nil, commands.ErrCpeClaimed()
		}
		return only(events.CpeAssigned{
			CpeID: s.ID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, SubscriptionID: c.SubscriptionID, At: now,
		})
	case commands.AssignSubscriberToCpe:
		return decideAssignSubscriber(s, c, now)
	case commands.ReleaseCpe:
		return decideReleaseCpe(s, now)
	case commands.ClearCpeFault:
		if s.Org.IsZero() {
			return nil, commands.ErrNoCpe()
		}
		return only(events.CpeFaultClearAsked{
			CpeID: s.ID, OrgID: s.Org, Channel: c.Channel, Code: c.Code, At: now,
		})
	case commands.ProveCpeSignIn:
		if !s.Org.IsZero() && s.SignIn == c.SignIn && !s.Proven {
			return only(events.CpeSignInProven{CpeID: s.ID, OrgID: s.Org, At: now})
		}
	case commands.EndCpeSignIn:
		return decideEndSignIn(s, now)
	}
	return nil, nil
}

// only returns one event as a decision.
func only(e events.CpeEvent) ([]events.CpeEvent, error) { return []events.CpeEvent{e}, nil }

// decideClaimCpe takes a CPE that nobody has. Of two claims at once the second one finds it taken, also when both are
// of one organization.
func decideClaimCpe(s CPE, c commands.ClaimCpe, now time.Time) ([]events.CpeEvent, error) {
	if !s.Org.IsZero() {
		return nil, commands.ErrCpeClaimed()
	}
	list := []events.CpeEvent{events.CpeClaimed{
		CpeID: s.ID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, SubscriptionID: c.SubscriptionID, At: now,
	}}
	if !c.Label.IsZero() || !c.Location.IsZero() {
		list = append(list, events.CpeDescribed{
			CpeID: s.ID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, Label: c.Label, Location: c.Location, At: now,
		})
	}
	return list, nil
}

// decideAssignSubscriber also takes the CPE from the customer who had it. The same customer again is no change, unless
// the CPE is to be asked at once.
func decideAssignSubscriber(s CPE, c commands.AssignSubscriberToCpe, now time.Time) ([]events.CpeEvent, error) {
	if s.Org.IsZero() {
		return nil, commands.ErrNoCpe()
	}
	if s.Subscriber == c.SubscriberID && s.Subscription == c.SubscriptionID && !c.PushNow {
		return nil, nil
	}
	var list []events.CpeEvent
	if s.Subscriber != c.SubscriberID {
		list = s.withoutSubscriber(now)
	}
	return append(list, events.CpeSubscriberAssigned{
		CpeID: s.ID, OrgID: s.Org, SubscriberID: c.SubscriberID, SubscriptionID: c.SubscriptionID, PushNow: c.PushNow,
		At: now,
	}), nil
}

// withoutSubscriber takes the CPE from its customer; there is no event without one.
func (s CPE) withoutSubscriber(now time.Time) []events.CpeEvent {
	if s.Subscriber.IsZero() {
		return nil
	}
	return []events.CpeEvent{events.CpeSubscriberRemoved{
		CpeID: s.ID, OrgID: s.Org, SubscriberID: s.Subscriber, At: now,
	}}
}

// decideReleaseCpe gives the CPE up. What nobody has is no device of an organization.
func decideReleaseCpe(s CPE, now time.Time) ([]events.CpeEvent, error) {
	if s.Org.IsZero() {
		return nil, commands.ErrNoCpe()
	}
	return append(s.withoutSubscriber(now), events.CpeReleased{CpeID: s.ID, OrgID: s.Org, At: now}), nil
}

// decideEndSignIn changes nothing for a CPE that is let in without a password anyway.
func decideEndSignIn(s CPE, now time.Time) ([]events.CpeEvent, error) {
	switch {
	case s.Org.IsZero():
		return nil, commands.ErrNoCpe()
	case !s.Proven:
		return nil, nil
	}
	return only(events.CpeSignInEnded{CpeID: s.ID, OrgID: s.Org, At: now})
}

// Package subscribers has the rules of subscribers, plans and subscriptions.
package subscribers

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Subscribers defines the customers: one stream for each. A forgotten one answers subscriber_not_found.
func Subscribers() aggregates.Definition[Subscriber, commands.SubscriberCommand, events.SubscriberEvent] {
	return aggregates.Definition[Subscriber, commands.SubscriberCommand, events.SubscriberEvent]{
		Category: commands.SubscriberCategory, Missing: commands.ErrNoSubscriber, Evolve: evolveSubscriber,
		Decide: decideSubscriber, Owner: ownerSubscriber, Gone: func(s Subscriber) bool { return s.Forgotten },
		Claims: claimsSubscriber, First: commands.RegisterSubscriber{},
		Commands: []commands.SubscriberCommand{
			commands.RegisterSubscriber{}, commands.CorrectSubscriberDetails{}, commands.BlockSubscriber{},
			commands.UnblockSubscriber{}, commands.RemoveSubscriber{},
			commands.ForgetSubscriber{},
		},
	}
}

// Subscriber is a customer. The zero value is "does not exist".
type Subscriber struct {
	ID            id.Subscriber
	Owner         id.Organization
	AccountNumber string
	Currency      money.Currency
	Details       events.SubscriberDetails
	Blocked       bool
	Forgotten     bool
}

// evolveSubscriber applies one recorded event. Forgetting removes all personal details.
func evolveSubscriber(s Subscriber, e events.SubscriberEvent) Subscriber {
	switch e := e.(type) {
	case events.SubscriberRegistered:
		return Subscriber{
			ID: e.SubscriberID, Owner: e.OrgID, AccountNumber: e.AccountNumber, Currency: e.Currency,
			Details: e.Details,
		}
	case events.SubscriberDetailsCorrected:
		s.Details = e.Details
	case events.SubscriberBlocked:
		s.Blocked = true
	case events.SubscriberUnblocked:
		s.Blocked = false
	case events.SubscriberForgotten:
		s.Forgotten = true
		s.Details = events.SubscriberDetails{}
	}
	return s
}

// ownerSubscriber: a subscriber belongs to one organization for ever.
func ownerSubscriber(s Subscriber) id.Organization { return s.Owner }

// claimsSubscriber claims the account number on the whole platform, because customers of all organizations type it at
// the shared paybill (docs/rules/subscribers.md#account-number). Aliases are unique in the organization.
func claimsSubscriber(s Subscriber) []commands.Claim {
	if s.ID.IsZero() {
		return nil
	}
	claims := []commands.Claim{
		{
			Kind: "account_number", Value: s.AccountNumber, Code: "account_number_taken",
			Message: "This account number is taken.",
		},
	}
	for _, alias := range s.Details.AccountAliases {
		if !alias.IsZero() {
			claims = append(claims, commands.Claim{
				Kind: "account_alias", Value: s.Owner.String() + "/" + alias.Reveal(), Code: "account_alias_taken",
				Message: "This old account number belongs to another customer.",
			})
		}
	}
	return claims
}

// decideSubscriber dispatches; every command but the first needs a subscriber that is not forgotten.
func decideSubscriber(s Subscriber, c commands.SubscriberCommand, now time.Time) ([]events.SubscriberEvent, error) {
	if register, ok := c.(commands.RegisterSubscriber); ok {
		return decideRegister(s, register, now)
	}
	if _, again := c.(commands.ForgetSubscriber); again && s.Forgotten {
		return nil, nil
	}
	if s.ID.IsZero() || s.Forgotten {
		return nil, commands.ErrNoSubscriber()
	}
	switch c := c.(type) {
	case commands.RegisterSubscriber:
	case commands.CorrectSubscriberDetails:
		if sameDetails(s.Details, c.Details) {
			return nil, nil
		}
		return []events.SubscriberEvent{events.SubscriberDetailsCorrected{SubscriberID: s.ID, Details: c.Details}}, nil
	case commands.BlockSubscriber:
		if s.Blocked {
			return nil, nil
		}
		return []events.SubscriberEvent{events.SubscriberBlocked{SubscriberID: s.ID, Reason: personal.Of(c.Reason)}},
			nil
	case commands.RemoveSubscriber:
		return []events.SubscriberEvent{
			events.SubscriberForgotten{SubscriberID: s.ID, Reason: c.Reason, Undone: true},
		}, nil
	case commands.ForgetSubscriber:
		return []events.SubscriberEvent{events.SubscriberForgotten{SubscriberID: s.ID, Reason: c.Reason}}, nil
	case commands.UnblockSubscriber:
		if !s.Blocked {
			return nil, nil
		}
		return []events.SubscriberEvent{events.SubscriberUnblocked{SubscriberID: s.ID, Reason: personal.Of(c.Reason)}},
			nil
	}
	return nil, nil
}

// decideRegister refuses an id that is in use. The bus checks the account number with the claims.
func decideRegister(s Subscriber, c commands.RegisterSubscriber, now time.Time) ([]events.SubscriberEvent, error) {
	if !s.ID.IsZero() {
		return nil, failure.NewConflict("subscriber_exists", "This subscriber exists already.")
	}
	return []events.SubscriberEvent{events.SubscriberRegistered{
		SubscriberID: c.SubscriberID, OrgID: c.OrgID, AccountNumber: c.AccountNumber, Currency: c.Currency,
		Details: c.Details, ImportRow: c.ImportRow, RegisteredAt: now,
	}}, nil
}

// sameDetails compares the plain texts, so that a sealed and a new text with the same content are equal.
func sameDetails(a, b events.SubscriberDetails) bool {
	for _, pair := range [][2]interface{ Reveal() string }{
		{a.FirstName, b.FirstName}, {a.LastName, b.LastName}, {a.Phone, b.Phone}, {a.SecondPhone, b.SecondPhone},
		{a.Email, b.Email}, {a.Address, b.Address}, {a.Notes, b.Notes},
		{a.Location, b.Location}, {a.ExternalRef, b.ExternalRef}, {a.TaxPIN, b.TaxPIN},
	} {
		if pair[0].Reveal() != pair[1].Reveal() {
			return false
		}
	}
	return a.Language == b.Language && a.OnlyNeeded == b.OnlyNeeded && a.WhatsApp == b.WhatsApp &&
		a.MessageSecond == b.MessageSecond &&
		slices.EqualFunc(a.Tags, b.Tags, personal.Text.Equal) &&
		slices.EqualFunc(a.AccountAliases, b.AccountAliases, personal.Text.Equal)
}

// Package subscriberscases has the use cases of subscribers, plans and subscriptions that take more than one command:
// they read from the log what a command needs, draw an account number, or store a password in the vault first.
package subscriberscases

import (
	"context"
	"crypto/rand"
	"math/big"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Subscribers registers subscribers and corrects their details. Safe for concurrent use.
type Subscribers struct {
	Bus     *bus.Bus
	Limiter vault.Limiter // counts what customers choose
	// DrawNumber proposes an account number; nil = a random one.
	DrawNumber func() (string, error)
}

// maxAccountNumberTries bounds the search for a free account number: with a tenth of the numbers taken, ten tries fail
// once in ten billion.
const maxAccountNumberTries = 10

// Register makes a subscriber under an account number that is free on the whole platform. Names, phone, e-mail address,
// tags and reference are accepted as people type them and brought into one form. The currency is the organization's.
//
// There is one command, tried again with another number while the number is taken: a claim decides that, and a crash
// leaves either all or nothing. Under the same key a repeat gets the subscriber, and the number, of the first try.
// Fails: organization_not_found, invalid_input, account_number_taken (ten times in a row).
func (u Subscribers) Register(
	ctx context.Context, asked usecases.Asked, details events.SubscriberDetails,
) (id.Subscriber, bus.Result, error) {
	return u.register(ctx, asked, details, personal.Text{})
}

// register notes the row of an import that the customer comes from, too. Fails as Register.
func (u Subscribers) register(
	ctx context.Context, asked usecases.Asked, details events.SubscriberDetails, row personal.Text,
) (id.Subscriber, bus.Result, error) {
	settings, err := usecases.BillingSettings(ctx, u.Bus, asked.Org())
	if err != nil {
		return id.Subscriber{}, bus.Result{}, err
	}
	command := commands.RegisterSubscriber{
		SubscriberID: usecases.NewID[id.Subscriber](asked, "subscriber"), OrgID: asked.Org(),
		Currency: settings.Currency, Details: normalDetails(details), ImportRow: row,
	}
	for try := 1; ; try++ {
		if command.AccountNumber, err = u.accountNumber(); err != nil {
			return id.Subscriber{}, bus.Result{}, err
		}
		done, err := u.Bus.Execute(ctx, command, asked.Meta)
		if failure.CodeOf(err) != "account_number_taken" || try == maxAccountNumberTries {
			return command.SubscriberID, done, err
		}
	}
}

// accountNumber proposes a number. A random one does not begin with zero, because people leave leading zeros out.
func (u Subscribers) accountNumber() (string, error) {
	if u.DrawNumber != nil {
		return u.DrawNumber()
	}
	n, err := rand.Int(rand.Reader, big.NewInt(9_000_000))
	if err != nil {
		return "", err
	}
	return commands.AccountNumber(1_000_000 + int(n.Int64())), nil
}

// CorrectInput has the new details of a subscriber; nil leaves a field as it is, an empty text removes it.
type CorrectInput struct {
	SubscriberID id.Subscriber
	FirstName    *personal.Text
	LastName     *personal.Text
	Phone        *personal.Text
	SecondPhone  *personal.Text
	Email        *personal.Text
	Address      *personal.Text
	Notes        *personal.Text
	Location     *events.Location
	NoLocation   bool // removes the place
	Tags         *[]personal.Text
	ExternalRef  *personal.Text
	TaxPIN       *personal.Text
	// AccountAliases are old account numbers, as people write them.
	AccountAliases *[]personal.Text
	Language       *events.Language // "" = the organization's
	OnlyNeeded     *bool
	WhatsApp       *bool
	MessageSecond  *bool // false without a second phone
}

// Correct changes the details that are given, and brings them into one form as Register does. Two corrections of
// different fields at one moment both count. A repeat changes nothing. Fails: subscriber_not_found, invalid_input,
// stale_revision, concurrent_change.
func (u Subscribers) Correct(ctx context.Context, asked usecases.Asked, in CorrectInput) (bus.Result, error) {
	return usecases.Amend(ctx, u.Bus, asked, in.SubscriberID,
		func(present subscribers.Subscriber) (commands.Command, error) {
			return commands.CorrectSubscriberDetails{
				SubscriberID: in.SubscriberID, Details: in.onto(present.Details),
			}, nil
		})
}

// choicesADay is how often customers choose how messages come to them. Each choice stays in the log for good.
const choicesADay = 20

// Choose is Correct for the customer, a few times a day. Fails: rate_limited, and as Correct.
func (u Subscribers) Choose(ctx context.Context, asked usecases.Asked, in CorrectInput) (bus.Result, error) {
	ok, wait, err := u.Limiter.Allow(ctx, "choices of "+in.SubscriberID.String(), choicesADay, 24*time.Hour)
	switch {
	case err != nil:
		return bus.Result{}, err
	case !ok:
		return bus.Result{}, failure.NewLimited("rate_limited", "Too many requests. Please wait.",
			max(wait, time.Second))
	}
	return u.Correct(ctx, asked, in)
}

// onto applies the correction to the present details.
func (in CorrectInput) onto(d events.SubscriberDetails) events.SubscriberDetails {
	set := func(to *personal.Text, from *personal.Text, normal func(string) string) {
		if from != nil {
			*to = personal.Of(normal(from.Reveal()))
		}
	}
	set(&d.FirstName, in.FirstName, inputtext.Text)
	set(&d.LastName, in.LastName, inputtext.Text)
	set(&d.Phone, in.Phone, commands.NormalizeContactPhone)
	set(&d.SecondPhone, in.SecondPhone, commands.NormalizeContactPhone)
	set(&d.Email, in.Email, commands.NormalizeEmail)
	set(&d.Address, in.Address, asWritten)
	set(&d.Notes, in.Notes, asWritten)
	set(&d.ExternalRef, in.ExternalRef, inputtext.Text)
	set(&d.TaxPIN, in.TaxPIN, commands.NormalTaxPIN)
	if in.Location != nil || in.NoLocation {
		d.Location = in.Location.Text()
	}
	if in.Language != nil {
		d.Language = *in.Language
	}
	if in.OnlyNeeded != nil {
		d.OnlyNeeded = *in.OnlyNeeded
	}
	if in.WhatsApp != nil {
		d.WhatsApp = *in.WhatsApp
	}
	if in.MessageSecond != nil {
		d.MessageSecond = *in.MessageSecond
	}
	if in.SecondPhone != nil && d.SecondPhone.IsZero() && in.MessageSecond == nil {
		d.MessageSecond = false // it goes with the phone
	}
	if in.Tags != nil {
		d.Tags = normalTexts(*in.Tags, inputtext.Text)
	}
	if in.AccountAliases != nil {
		d.AccountAliases = normalTexts(*in.AccountAliases, commands.NormalAlias)
	}
	return d
}

// asWritten leaves a text as it was written.
func asWritten(text string) string { return text }

// normalDetails brings details as people type them into one form.
func normalDetails(d events.SubscriberDetails) events.SubscriberDetails {
	return CorrectInput{
		FirstName: &d.FirstName, LastName: &d.LastName, Phone: &d.Phone, Email: &d.Email, Address: &d.Address,
		Notes: &d.Notes, Location: d.Place(), Tags: &d.Tags, ExternalRef: &d.ExternalRef, TaxPIN: &d.TaxPIN,
		AccountAliases: &d.AccountAliases, Language: &d.Language, OnlyNeeded: &d.OnlyNeeded, WhatsApp: &d.WhatsApp,
		SecondPhone: &d.SecondPhone, MessageSecond: &d.MessageSecond,
	}.onto(events.SubscriberDetails{})
}

// normalTexts brings texts into one form and leaves each once, in the order given.
func normalTexts(given []personal.Text, normal func(string) string) []personal.Text {
	var list []string
	seen := map[string]bool{}
	for _, t := range given {
		if plain := normal(t.Reveal()); !seen[plain] {
			seen[plain] = true
			list = append(list, plain)
		}
	}
	return personal.OfAll(list)
}

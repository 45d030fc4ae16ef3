package subscriberscases

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Subscriptions gives plans to subscribers. Safe for concurrent use.
type Subscriptions struct {
	Bus     *bus.Bus
	Secrets *vault.Secrets // holds the passwords on the network
	Clock   clock.Clock
}

// CreateSubscriptionInput says who gets which plan.
type CreateSubscriptionInput struct {
	SubscriberID id.Subscriber
	PlanID       id.Plan
	StartDate    calendar.Date // in the organization's zone; zero = now
	Username     personal.Text // on the network; zero = made from the account number
	Password     secrets.Text  // on the network, at most 128 bytes; zero = random
}

// Create gives a subscriber a plan, whose terms are copied as the log has them at this moment: later versions of the
// plan do not change the subscription.
//
// First the password is stored in the vault, then one command makes the subscription. A username that was not given
// gets a number behind it until a claim finds it free. A crash in between leaves a password to which nothing refers; a
// repeat under the same key replaces it. Once the subscription is made, a repeat under its key gets it as it was made,
// and leaves its password, even when the plan has changed. When the command is refused, the password is deleted again.
// Fails: subscriber_not_found, plan_not_found, plan_archived, organization_not_found, invalid_input, username_taken.
func (u Subscriptions) Create(
	ctx context.Context, asked usecases.Asked, in CreateSubscriptionInput,
) (id.Subscription, bus.Result, error) {
	subscription := usecases.NewID[id.Subscription](asked, "subscription")
	made, err := u.made(ctx, asked.Org(), subscription)
	switch {
	case err != nil:
		return id.Subscription{}, bus.Result{}, err
	case !made.ID.IsZero(): // a command acts once: this one only reads the first result
		done, err := u.Bus.Execute(ctx, commands.CreateSubscription{
			SubscriptionID: subscription, OrgID: asked.Org(), Username: made.Username,
		}, asked.Meta)
		return subscription, done, err
	}
	command, err := u.command(ctx, asked.Org(), subscription, in)
	if err != nil {
		return id.Subscription{}, bus.Result{}, err
	}
	if err := failure.JoinFaults(command.Validate(), checkNetworkPassword(in.Password)); err != nil {
		return id.Subscription{}, bus.Result{}, err
	}
	if err := u.keepPassword(ctx, command, in.Password); err != nil {
		return id.Subscription{}, bus.Result{}, err
	}
	done, err := u.createUnderFreeName(ctx, asked, command, in.Username.IsZero())
	if failure.KindOf(err) == failure.Conflict {
		err = errors.Join(err, u.forgetPassword(ctx, command))
	}
	return subscription, done, err
}

// made is the subscription as the log has it, zero when it does not exist yet.
func (u Subscriptions) made(
	ctx context.Context, org id.Organization, subscription id.Subscription,
) (subscribers.Subscription, error) {
	state, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, org, subscription)
	if errors.Is(err, commands.ErrNoSubscription()) {
		return subscribers.Subscription{}, nil
	}
	return state, err
}

// command makes the command from the subscriber, the plan and the settings, each read from the log.
func (u Subscriptions) command(
	ctx context.Context, org id.Organization, subscription id.Subscription, in CreateSubscriptionInput,
) (commands.CreateSubscription, error) {
	none := commands.CreateSubscription{}
	subscriber, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, u.Bus, org, in.SubscriberID)
	if err != nil {
		return none, err
	}
	plan, _, err := bus.LoadOwned[subscribers.Plan](ctx, u.Bus, org, in.PlanID)
	if err != nil {
		return none, err
	}
	if plan.Archived {
		return none, failure.NewConflict("plan_archived", "This plan is archived.")
	}
	settings, err := usecases.BillingSettings(ctx, u.Bus, org)
	if err != nil {
		return none, err
	}
	starts, err := startInstant(in.StartDate, settings, u.Clock.Now())
	if err != nil {
		return none, err
	}
	username := in.Username
	if username.IsZero() {
		username = personal.Of(subscriber.AccountNumber)
	}
	return commands.CreateSubscription{
		SubscriptionID: subscription, OrgID: org, SubscriberID: in.SubscriberID, PlanID: in.PlanID,
		PlanVersion: plan.Version, Terms: plan.Terms, Timezone: settings.Timezone, StartsAt: starts, Username: username,
		PasswordRef: id.Derive[id.Secret]("network_password", subscription.String()),
	}, nil
}

// startInstant is the first moment of a future day in the organization's zone; for today it is now. A past day is
// refused. Fails: invalid_input.
func startInstant(day calendar.Date, settings events.BillingSettings, now time.Time) (time.Time, error) {
	zone, err := usecases.Zone(settings)
	if err != nil {
		return time.Time{}, err
	}
	today := calendar.On(now, zone)
	switch {
	case day.IsZero() || day == today:
		return now, nil
	case day.Before(today):
		return time.Time{}, failure.NewInvalid("invalid_input", "startDate must not be in the past")
	case today.AddDays(usecases.MaxDaysAhead).Before(day):
		return time.Time{}, failure.NewInvalid("invalid_input", "startDate must be in the next five years")
	}
	return day.Start(zone), nil
}

// maxNetworkPassword is the length that RADIUS can carry, in bytes. Source: RFC 2865 5.2.
const maxNetworkPassword = 128

// checkNetworkPassword checks a password that was given. An empty one passes, since a random one replaces it. Fails:
// invalid_input.
func checkNetworkPassword(password secrets.Text) error {
	var f failure.Faults
	f.Check(len(password) <= maxNetworkPassword, "password", "must have at most %d bytes", maxNetworkPassword)
	f.Check(!strings.ContainsFunc(password.Reveal(), unicode.IsControl), "password", "must not have control characters")
	return f.Err()
}

// keepPassword stores the password in the vault, a random one when none is given.
func (u Subscriptions) keepPassword(
	ctx context.Context, command commands.CreateSubscription, password secrets.Text,
) error {
	if password.IsZero() {
		password = secrets.Text(rand.Text())
	}
	secret := vault.Secret{Ref: command.PasswordRef, OrgID: command.OrgID, Purpose: "network_password"}
	return u.Secrets.Put(ctx, secret, []byte(password.Reveal()))
}

// forgetPassword deletes the password of a refused subscription, unless the same request, sent twice at the same
// moment, has made the subscription meanwhile.
func (u Subscriptions) forgetPassword(ctx context.Context, command commands.CreateSubscription) error {
	made, err := u.made(ctx, command.OrgID, command.SubscriptionID)
	if err != nil || !made.ID.IsZero() {
		return err
	}
	return u.Secrets.Delete(ctx, command.PasswordRef)
}

// maxDefaultNames bounds the search for a free username: a subscriber has few subscriptions.
const maxDefaultNames = 50

// createUnderFreeName executes the command. A username that was not given is the account number, with a number behind
// it when the subscriber has more than one subscription.
func (u Subscriptions) createUnderFreeName(
	ctx context.Context, asked usecases.Asked, command commands.CreateSubscription, unnamed bool,
) (bus.Result, error) {
	base := command.Username.Reveal()
	for n := 2; ; n++ {
		done, err := u.Bus.Execute(ctx, command, asked.Meta)
		if failure.CodeOf(err) != "username_taken" || !unnamed || n > maxDefaultNames {
			return done, err
		}
		command.Username = personal.Of(fmt.Sprintf("%s-%d", base, n))
	}
}

package subscriberscases

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	Limiter vault.Limiter  // counts how often passwords are shown
	Clock   clock.Clock
	// Overlapping reports whether routes, or addresses, overlap those of other customers than one.
	Overlapping func(
		ctx context.Context, org id.Organization, customer id.Subscriber, routes, addresses []string,
	) (bool, error)
}

// CreateSubscriptionInput says who gets which plan.
type CreateSubscriptionInput struct {
	SubscriberID id.Subscriber
	PlanID       id.Plan
	StartDate    calendar.Date             // in the organization's zone; zero = now
	Username     personal.Text             // on the network; zero = made from the account number
	Password     secrets.Text              // on the network, at most 128 bytes; zero = generated
	Addresses    commands.ServiceAddresses // in any notation
	PaidUntil    time.Time                 // paid in another system; zero = not
	BillingDay   int                       // of a monthly plan, in place of the plan's; 0 = the plan's
	Extras       []ExtraInput              // on the first invoice already; they need no subscription
	// First is set where it must stay the subscriber's only one: another such request makes the same, and is refused.
	First bool
}

// MadeSubscription is the answer of Create.
type MadeSubscription struct {
	bus.Result
	ID id.Subscription
	// Generated is the password when none was given; zero also for a repeat after which the password was changed.
	Generated secrets.Text
}

// Create gives a subscriber a plan, whose terms are copied as the log has them at this moment: later versions of the
// plan do not change the subscription.
//
// First the password is stored in the vault, then one command makes the subscription. A username that was not given
// gets a number behind it until a claim finds it free. A crash in between leaves a password to which nothing refers; a
// repeat under the same key takes it. Once the subscription is made, a repeat under its key gets it as it was made,
// with the same password, even when the plan has changed. When the command is refused, the password is deleted again.
// Fails: subscriber_not_found, plan_not_found, plan_archived, organization_not_found, invalid_input, username_taken,
// static_ip_taken, static_ipv6_prefix_taken, route_taken, subscription_exists.
func (u Subscriptions) Create(
	ctx context.Context, asked usecases.Asked, in CreateSubscriptionInput,
) (MadeSubscription, error) {
	out := MadeSubscription{ID: usecases.NewID[id.Subscription](asked, "subscription")}
	if in.First {
		out.ID = firstOf(in.SubscriberID)
	}
	made, err := u.made(ctx, asked.Org(), out.ID)
	switch {
	case err != nil:
		return MadeSubscription{}, err
	case !made.ID.IsZero(): // a command acts once: this one only reads the first result
		out.Result, err = u.Bus.Execute(ctx, commands.CreateSubscription{
			SubscriptionID: out.ID, OrgID: asked.Org(), Username: made.Username,
		}, asked.Meta)
		return u.withGenerated(ctx, out, in, made.PasswordRef, err)
	}
	command, err := u.command(ctx, asked.Org(), out.ID, in)
	if err != nil {
		return MadeSubscription{}, err
	}
	if in.First { // each request has a password of its own
		command.PasswordRef = id.Derive[id.Secret](commands.NetworkPasswordPurpose, asked.Meta.CommandID.String())
	}
	if err := failure.JoinFaults(command.Validate(), checkNetworkPassword(in.Password)); err != nil {
		return MadeSubscription{}, err
	}
	if err := u.checkOverlap(ctx, asked.Org(), in.SubscriberID, command.Addresses); err != nil {
		return MadeSubscription{}, err
	}
	if err := u.keepPassword(ctx, asked.Org(), command.PasswordRef, in.Password); err != nil {
		return MadeSubscription{}, err
	}
	out.Result, err = u.createUnderFreeName(ctx, asked, command, in.Username.IsZero())
	if failure.KindOf(err) == failure.Conflict {
		err = errors.Join(err, u.forgetUnused(ctx, asked.Org(), out.ID, command.PasswordRef))
	}
	return u.withGenerated(ctx, out, in, command.PasswordRef, err)
}

// firstOf is the id of a subscription that is made as the first one of a subscriber, and as no second one.
func firstOf(subscriber id.Subscriber) id.Subscription {
	return id.Derive[id.Subscription]("first", subscriber.String())
}

// withGenerated adds the password to the answer when it was generated and is still the one that the subscription was
// made with. It passes err on.
func (u Subscriptions) withGenerated(
	ctx context.Context, out MadeSubscription, in CreateSubscriptionInput, present id.Secret, err error,
) (MadeSubscription, error) {
	if err != nil {
		return MadeSubscription{}, err
	}
	if in.Password.IsZero() && present == commands.FirstPassword(out.ID) {
		out.Generated, err = u.password(ctx, present)
	}
	return out, err
}

// sold reads a plan from the log. Fails: plan_not_found, plan_archived.
func (u Subscriptions) sold(ctx context.Context, org id.Organization, of id.Plan) (subscribers.Plan, error) {
	plan, _, err := bus.LoadOwned[subscribers.Plan](ctx, u.Bus, org, of)
	if err == nil && plan.Archived {
		err = failure.NewConflict("plan_archived", "This plan is archived.")
	}
	return plan, err
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
	plan, err := u.sold(ctx, org, in.PlanID)
	if err != nil {
		return none, err
	}
	settings, err := usecases.BillingSettings(ctx, u.Bus, org)
	if err != nil {
		return none, err
	}
	starts, err := startInstant(in.StartDate, settings, u.Clock.Now())
	if err != nil {
		return none, err
	}
	terms := plan.Terms
	if in.BillingDay > 0 && terms.Period == calendar.Month {
		terms.AnchorDay = in.BillingDay
	}
	username := in.Username
	if username.IsZero() {
		username = personal.Of(subscriber.AccountNumber)
	}
	extras, err := newExtras(subscription, in.Extras, terms.Price.Currency)
	if err != nil {
		return none, err
	}
	return commands.CreateSubscription{
		SubscriptionID: subscription, OrgID: org, SubscriberID: in.SubscriberID, PlanID: in.PlanID, Extras: extras,
		PlanVersion: plan.Version, Terms: terms, Timezone: settings.Timezone, StartsAt: starts, Username: username,
		PasswordRef: commands.FirstPassword(subscription), Addresses: commands.NormalAddresses(in.Addresses),
		PaidUntil: in.PaidUntil, Tax: settings.Tax,
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

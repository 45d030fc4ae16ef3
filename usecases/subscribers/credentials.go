package subscriberscases

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/usecases"
)

// showsPerHour bounds how often the password of one subscription is shown: each time is an event.
const showsPerHour = 30

// Credentials are the login of a subscription in clear text.
type Credentials struct {
	bus.Result
	Username personal.Text
	Password secrets.Text // zero = there is none, or it is not told
}

// ShowCredentials gives username and password, and records who is given them before the caller has them. A
// subscription without a password is shown without one. Fails: subscription_not_found, rate_limited.
func (u Subscriptions) ShowCredentials(
	ctx context.Context, asked usecases.Asked, subscription id.Subscription,
) (Credentials, error) {
	present, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, asked.Org(), subscription)
	if err != nil {
		return Credentials{}, err
	}
	ok, wait, err := u.Limiter.Allow(ctx, "credentials_show:"+subscription.String(), showsPerHour, time.Hour)
	if err != nil {
		return Credentials{}, err
	}
	if !ok {
		wait = max(wait, time.Second)
		return Credentials{}, failure.NewLimited("rate_limited", "Too many requests. Please wait.", wait)
	}
	out := Credentials{Username: present.Username}
	if out.Password, err = u.password(ctx, present.PasswordRef); err != nil {
		return Credentials{}, err
	}
	shown := commands.ShowCredentials{SubscriptionID: subscription, PasswordRef: present.PasswordRef}
	if out.Password.IsZero() {
		shown.PasswordRef = id.Secret{}
	}
	if out.Result, err = u.Bus.Execute(ctx, shown, asked.Meta); err != nil {
		return Credentials{}, err
	}
	return out, nil
}

// SetCredentialsInput has a new login. Without a username the present one stays. Without a password the present one
// stays when a username is given and there is one; else a password is generated.
type SetCredentialsInput struct {
	SubscriptionID id.Subscription
	Username       personal.Text
	Password       secrets.Text // from 6 characters to 128 bytes
}

// SetCredentials changes the login; a generated password is in the answer, a given one is not. The password is stored
// in the vault before the command refers to it, and the one before it is deleted afterwards: what a crash in between
// leaves is deleted by a repeat, and by the next change. A repeat under the same key gets the same password, as long as
// no other change came after it. Fails: subscription_not_found, subscription_ended, username_taken, invalid_input,
// stale_revision, concurrent_change.
func (u Subscriptions) SetCredentials(
	ctx context.Context, asked usecases.Asked, in SetCredentialsInput,
) (Credentials, error) {
	before, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, asked.Org(), in.SubscriptionID)
	if err != nil {
		return Credentials{}, err
	}
	ref, err := u.newPassword(ctx, asked, in, before)
	if err != nil {
		return Credentials{}, err
	}
	replaced := before.PasswordRef // another change may have come since
	done, err := usecases.Amend(ctx, u.Bus, asked, in.SubscriptionID,
		func(present subscribers.Subscription) (commands.Command, error) {
			replaced = present.PasswordRef
			command := commands.SetCredentials{
				SubscriptionID: in.SubscriptionID, Username: in.Username, PasswordRef: ref,
			}
			if in.Username.IsZero() {
				command.Username = present.Username
			}
			if ref.IsZero() {
				command.PasswordRef = present.PasswordRef
			}
			return command, failure.JoinFaults(command.Validate(), checkNewPassword(in.Password))
		})
	if err != nil {
		return Credentials{}, u.undo(ctx, asked, in.SubscriptionID, ref, err)
	}
	present, err := u.made(ctx, asked.Org(), in.SubscriptionID)
	if err != nil {
		return Credentials{}, err
	}
	if err := u.forgetExcept(ctx, present, ref, replaced, before.PasswordRef, before.FormerRef); err != nil {
		return Credentials{}, err
	}
	out := Credentials{Result: done, Username: present.Username}
	if in.Password.IsZero() && ref == present.PasswordRef {
		out.Password, err = u.password(ctx, ref)
	}
	return out, err
}

// newPassword stores the new password, and gives its reference; zero when the present password stays. Nothing is
// stored for a change that is refused anyway. Fails: subscription_ended, invalid_input.
func (u Subscriptions) newPassword(
	ctx context.Context, asked usecases.Asked, in SetCredentialsInput, before subscribers.Subscription,
) (id.Secret, error) {
	ref := usecases.NewID[id.Secret](asked, commands.NetworkPasswordPurpose)
	if before.PasswordRef == ref { // a repeat
		return ref, nil
	}
	form := commands.SetCredentials{SubscriptionID: in.SubscriptionID, Username: in.Username, PasswordRef: ref}
	if in.Username.IsZero() {
		form.Username = before.Username
	}
	if err := failure.JoinFaults(form.Validate(), checkNewPassword(in.Password)); err != nil {
		return id.Secret{}, err
	}
	if in.Password.IsZero() && !in.Username.IsZero() {
		kept, err := u.password(ctx, before.PasswordRef)
		if err != nil || !kept.IsZero() {
			return id.Secret{}, err
		}
	}
	return ref, u.keepPassword(ctx, asked.Org(), ref, in.Password)
}

// undo deletes the password that was stored for a command which was refused with err, and returns err. After any other
// failure the command may have acted, so nothing is deleted.
func (u Subscriptions) undo(
	ctx context.Context, asked usecases.Asked, subscription id.Subscription, ref id.Secret, err error,
) error {
	switch failure.KindOf(err) {
	case failure.Conflict, failure.Stale, failure.NotFound, failure.Invalid:
		return errors.Join(err, u.forgetUnused(ctx, asked.Org(), subscription, ref))
	default:
		return err
	}
}

// AddressChange has new addresses of a subscription, in any notation; nil leaves them as they are, and empty ones
// remove them.
type AddressChange struct {
	SubscriptionID   id.Subscription
	StaticIP         *personal.Text
	StaticIPv6Prefix *personal.Text
	MACAddresses     *[]personal.Text
	Routes           *[]personal.Text
}

// ChangeAddresses changes addresses. Two changes of different addresses at one moment both count. Fails:
// subscription_not_found, subscription_ended, static_ip_taken, static_ipv6_prefix_taken, route_taken, invalid_input,
// stale_revision, concurrent_change.
func (u Subscriptions) ChangeAddresses(
	ctx context.Context, asked usecases.Asked, in AddressChange,
) (bus.Result, error) {
	return usecases.Amend(ctx, u.Bus, asked, in.SubscriptionID,
		func(present subscribers.Subscription) (commands.Command, error) {
			next := commands.ServiceAddresses{
				StaticIP:         null.Or(in.StaticIP, present.Addresses.StaticIP),
				StaticIPv6Prefix: null.Or(in.StaticIPv6Prefix, present.Addresses.StaticIPv6Prefix),
				MACAddresses:     null.Or(in.MACAddresses, present.Addresses.MACAddresses),
				Routes:           null.Or(in.Routes, present.Addresses.Routes),
			}
			command := commands.AssignAddresses{
				SubscriptionID: in.SubscriptionID, Addresses: commands.NormalAddresses(next),
			}
			if err := command.Validate(); err != nil {
				return nil, err
			}
			return command, u.checkOverlap(ctx, asked.Org(), present.SubscriberID, command.Addresses)
		})
}

// checkOverlap refuses routes that overlap addresses of other customers, and addresses within routes of theirs. It
// asks a read model: of two such changes within a second both may act, and the router then takes the later session's.
// Fails: route_taken.
func (u Subscriptions) checkOverlap(
	ctx context.Context, org id.Organization, customer id.Subscriber, a commands.ServiceAddresses,
) error {
	routes, addresses := personal.RevealAll(a.Routes), []string{}
	for _, of := range []personal.Text{a.StaticIP, a.StaticIPv6Prefix} {
		if text := of.Reveal(); text != "" {
			addresses = append(addresses, text)
		}
	}
	if u.Overlapping == nil || len(routes)+len(addresses) == 0 {
		return nil
	}
	overlaps, err := u.Overlapping(ctx, org, customer, routes, addresses)
	if err == nil && overlaps {
		err = failure.NewConflict("route_taken",
			"This network overlaps addresses of another customer. Choose another one.")
	}
	return err
}

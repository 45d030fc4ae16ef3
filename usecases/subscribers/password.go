package subscriberscases

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// maxNetworkPassword is the length that RADIUS can carry, in bytes. Source: RFC 2865 5.2.
const maxNetworkPassword = 128

// minNetworkPassword is the least length of a password that replaces another one, in characters. What a subscription
// begins with may be shorter: it can be the password of a system that was used before, which the customer's equipment
// has (docs/rules/access-radius.md#tried-passwords).
const minNetworkPassword = 6

// checkNewPassword checks a password that replaces another one. An empty one passes, since one is generated in its
// place. Fails: invalid_input.
func checkNewPassword(password secrets.Text) error {
	var f failure.Faults
	f.Check(password.IsZero() || utf8.RuneCountInString(password.Reveal()) >= minNetworkPassword, "password",
		"must have at least %d characters", minNetworkPassword)
	return failure.JoinFaults(f.Err(), checkNetworkPassword(password))
}

// checkNetworkPassword checks a password that was given. An empty one passes, since one is generated in its place.
// Fails: invalid_input.
func checkNetworkPassword(password secrets.Text) error {
	var f failure.Faults
	f.Check(len(password) <= maxNetworkPassword, "password", "must have at most %d bytes", maxNetworkPassword)
	f.Check(!strings.ContainsFunc(password.Reveal(), unicode.IsControl), "password", "must not have control characters")
	return f.Err()
}

// Generated passwords are typed by customers from paper or a phone: their alphabet has no two characters that look
// alike. It has 31 characters, so that 14 of them are 69 bits.
const (
	passwordAlphabet = "abcdefghjkmnpqrstuvwxyz23456789"
	passwordLength   = 14
)

// generated makes a random password. Each character is equally likely: random numbers beyond the alphabet are skipped.
func generated() secrets.Text {
	var out []byte
	for len(out) < passwordLength {
		var random [2 * passwordLength]byte
		_, _ = rand.Read(random[:]) // never fails
		for _, b := range random {
			if n := int(b & 31); n < len(passwordAlphabet) && len(out) < passwordLength {
				out = append(out, passwordAlphabet[n])
			}
		}
	}
	return secrets.Text(out)
}

// keepPassword stores a password in the vault under a new reference, a generated one when none is given. A reference
// that exists keeps its password.
func (u Subscriptions) keepPassword(
	ctx context.Context, org id.Organization, ref id.Secret, password secrets.Text,
) error {
	if password.IsZero() {
		password = generated()
	}
	secret := vault.Secret{Ref: ref, OrgID: org, Purpose: commands.NetworkPasswordPurpose}
	return u.Secrets.Put(ctx, secret, []byte(password.Reveal()))
}

// password reads a password from the vault, zero when there is none.
func (u Subscriptions) password(ctx context.Context, ref id.Secret) (secrets.Text, error) {
	kept, err := u.Secrets.Get(ctx, ref)
	if failure.CodeOf(err) == "secret_not_found" {
		return "", nil
	}
	return secrets.Text(kept), err
}

// forgetUnused deletes those of some passwords to which the subscription does not refer now. The same request, sent
// twice at the same moment, can have made it refer to one of them meanwhile.
func (u Subscriptions) forgetUnused(
	ctx context.Context, org id.Organization, subscription id.Subscription, refs ...id.Secret,
) error {
	present, err := u.made(ctx, org, subscription)
	if err != nil {
		return err
	}
	return u.forgetExcept(ctx, present, refs...)
}

// forgetExcept deletes those of some passwords, and the former one, that are not the present one.
func (u Subscriptions) forgetExcept(
	ctx context.Context, present subscribers.Subscription, refs ...id.Secret,
) error {
	var err error
	for _, ref := range append(refs, present.FormerRef) {
		if !ref.IsZero() && ref != present.PasswordRef {
			err = errors.Join(err, u.Secrets.Delete(ctx, ref))
		}
	}
	return err
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

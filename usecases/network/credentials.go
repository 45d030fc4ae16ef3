package networkcases

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Limits of a router's secrets, in bytes.
const (
	maxSecret   = 128
	maxUsername = 64
)

// claimsPerHour bounds how often an organization claims one address with another router or another secret: each time
// is a guess at the secrets of others who are there (docs/rules/access-radius.md#known-routers).
const claimsPerHour = 60

// credentials are a router's secrets as a person gave them.
type credentials struct {
	radius   *secrets.Text // nil = it stays as it is
	user     string        // of the router's API; "" = none
	password secrets.Text
}

// check validates what the commands of a router do not contain: its secrets, and whether another address than the
// tunnel's is allowed. Fails: invalid_input.
func (d Devices) check(details events.DeviceDetails, given credentials) error {
	var f failure.Faults
	f.Check(d.ManagementAddresses || details.ManagementAddress == "", "managementAddress",
		"is not allowed in production: routers are reached through the tunnel")
	shortest := max(1, d.SecretLength)
	f.Check(given.radius == nil || secretShape(given.radius.Reveal()) && len(given.radius.Reveal()) >= shortest,
		"radiusSecret", fmt.Sprintf("must have %d to %d printable characters without spaces", shortest, maxSecret))
	f.Check((given.user == "") == given.password.IsZero(), "apiPassword", "must be given together with apiUsername")
	f.Check(given.user == "" || len(given.user) <= maxUsername && secretShape(given.user), "apiUsername",
		"must have 1 to 64 printable characters without spaces")
	f.Check(given.password.IsZero() || len(given.password.Reveal()) <= maxSecret &&
		!strings.ContainsFunc(given.password.Reveal(), func(r rune) bool { return r < ' ' || r == 127 }),
		"apiPassword", "must have at most 128 printable characters")
	return f.Err()
}

// checkChange is check for a change. A management address that stays as it is passes, even where a new one is not
// allowed.
func (d Devices) checkChange(from, to events.DeviceDetails, in DeviceChange) error {
	if to.ManagementAddress == from.ManagementAddress {
		to.ManagementAddress = ""
	}
	return d.check(to, credentials{
		radius: in.RadiusSecret, user: null.Zero(in.APIUsername), password: null.Zero(in.APIPassword),
	})
}

// another is the RADIUS secret of a change, or nil when the router has it already: that is no change, however short it
// is, and the router's claim to its address stays as old as it was.
func (d Devices) another(ctx context.Context, present network.Device, given *secrets.Text) (*secrets.Text, error) {
	if given == nil {
		return nil, nil
	}
	// One that cannot be decrypted is replaced, like one that is gone.
	found, err := d.Secrets.GetAll(ctx, []id.Secret{present.RadiusRef})
	if found == nil && err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare(found[present.RadiusRef], []byte(given.Reveal())) == 1 {
		return nil, nil
	}
	return given, nil
}

// claim counts a claim of an organization to an address. Fails: rate_limited.
func (d Devices) claim(ctx context.Context, org id.Organization, address string) error {
	return d.allow(ctx, "radius_claim:"+org.String()+":"+address, claimsPerHour)
}

// secretShape reports whether a word can stand in a router's script and configuration.
func secretShape(text string) bool {
	return text != "" && len(text) <= maxSecret &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// newRef is the reference of a secret that is about to be kept; under a key it is the same at each repeat.
func newRef(asked usecases.Asked, kind events.CredentialKind) id.Secret {
	return usecases.NewID[id.Secret](asked, commands.DeviceSecretPurpose(kind))
}

// keep stores one secret of a router in the vault; a secret that has the reference already stays as
// it is, so of two equal requests at once both mean the same one.
func (d Devices) keep(
	ctx context.Context, org id.Organization, ref id.Secret, kind events.CredentialKind, plain secrets.Text,
) error {
	secret := vault.Secret{Ref: ref, OrgID: org, Purpose: commands.DeviceSecretPurpose(kind)}
	if err := d.Secrets.Put(ctx, secret, []byte(plain.Reveal())); err != nil {
		return fmt.Errorf("keep %s secret: %w", kind, err)
	}
	return nil
}

// keepAPI stores user and password of a router's API as one secret.
func (d Devices) keepAPI(ctx context.Context, org id.Organization, ref id.Secret, given credentials) error {
	plain, err := json.Marshal(commands.DeviceAPICredentials{Username: given.user, Password: given.password.Reveal()})
	if err != nil {
		return fmt.Errorf("write API credentials: %w", err)
	}
	return d.keep(ctx, org, ref, events.CredentialAPI, secrets.Text(plain))
}

// replaceCredentials stores new secrets, then makes the router's stream refer to them. It gives the result of the last
// command, or done when there was none. from is the router as the change was made from. Fails: concurrent_change when
// other secrets came in between.
func (d Devices) replaceCredentials(
	ctx context.Context, asked usecases.Asked, from network.Device, in DeviceChange, done bus.Result,
) (bus.Result, error) {
	if in.RadiusSecret != nil {
		ref := newRef(asked, events.CredentialRadius)
		if err := d.keep(ctx, asked.Org(), ref, events.CredentialRadius, *in.RadiusSecret); err != nil {
			return done, err
		}
		var err error
		command := commands.ReplaceDeviceCredentials{
			DeviceID: from.ID, Kind: events.CredentialRadius, From: from.RadiusRef, Ref: ref,
		}
		if done, err = d.adopt(ctx, asked, command); err != nil {
			return done, err
		}
	}
	if in.APIUsername == nil {
		return done, nil
	}
	var ref id.Secret
	if *in.APIUsername != "" {
		ref = newRef(asked, events.CredentialAPI)
		given := credentials{user: *in.APIUsername, password: null.Zero(in.APIPassword)}
		if err := d.keepAPI(ctx, asked.Org(), ref, given); err != nil {
			return done, err
		}
	}
	return d.adopt(ctx, asked, commands.ReplaceDeviceCredentials{
		DeviceID: from.ID, Kind: events.CredentialAPI, From: from.APIRef, Ref: ref,
	})
}

// adopt makes the router's stream refer to a secret that is in the vault; the zero reference removes the secret from
// it. When the router refuses, the new secret is deleted again.
func (d Devices) adopt(
	ctx context.Context, asked usecases.Asked, command commands.ReplaceDeviceCredentials,
) (bus.Result, error) {
	done, err := d.Bus.Execute(ctx, command, asked.Step(string(command.Kind)))
	return done, d.forgetRefused(ctx, command.DeviceID, err, command.Ref)
}

// forgetRefused deletes the secrets that were stored for a command which was refused with err, and returns err. A
// secret that the router has is kept: the same request, sent twice at the same moment, can have registered it. After
// any other failure the command may have acted, so nothing is deleted.
func (d Devices) forgetRefused(ctx context.Context, device id.Device, err error, stored ...id.Secret) error {
	switch failure.KindOf(err) {
	case failure.Conflict, failure.Stale, failure.NotFound, failure.Invalid:
	default:
		return err
	}
	present, _, fault := bus.LoadUnchecked[network.Device](ctx, d.Bus, device)
	if fault != nil {
		return errors.Join(err, fault)
	}
	for _, ref := range stored {
		if !ref.IsZero() && ref != present.RadiusRef && ref != present.APIRef && ref != present.TunnelRef {
			err = errors.Join(err, d.Secrets.Delete(ctx, ref))
		}
	}
	return err
}

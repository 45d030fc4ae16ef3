package paymentscases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// PlatformGateway is the shared paybill. Without a shortcode the platform has none.
type PlatformGateway struct {
	Shortcode   string
	Environment string // commands.EnvironmentSandbox or EnvironmentProduction
	// Live = calls go to a real provider. A live sandbox believes callbacks without a proof, so it must not take real
	// money: docs/rules/payments.md#secret-addresses.
	Live bool
}

// Gateways configures how organizations take mobile money. Safe for concurrent use.
type Gateways struct {
	Bus      *bus.Bus
	Secrets  *vault.Secrets
	Platform PlatformGateway
}

// GatewayInput has the settings that an organization wants.
type GatewayInput struct {
	Direct      bool   // on a shortcode of its own; false = on the platform's
	Environment string // "" = the platform's
	Shortcode   string // of direct mode only, like the secrets
	// A secret that is absent or secrets.Hidden stays as it is.
	ConsumerKey, ConsumerSecret, Passkey secrets.Text
	RejectUnknownAccounts                bool // refuse paybill payments that name no account of the organization
}

// Configure adopts settings. New credentials are stored in the vault under a new reference before the settings name
// them: the registration of the shortcode, which makes it active, begins at once
// (docs/rules/payments.md#direct-shortcode). Refused settings leave no credentials behind; a crash in between leaves
// some to which nothing refers. Credentials that are already in use keep their reference, and with it the registration.
// A change is adopted only at the revision that it was made from, so of two changes at once neither undoes the other's
// credentials; of two first settings at once the later one stays. A repeat under the same key adopts nothing more.
// Fails: invalid_input, shortcode_taken, concurrent_change.
func (g Gateways) Configure(ctx context.Context, asked usecases.Asked, in GatewayInput) (bus.Result, error) {
	if in.Environment == "" {
		in.Environment = g.Platform.Environment
	}
	if err := g.allows(in); err != nil {
		return bus.Result{}, err
	}
	fresh := usecases.NewID[id.Secret](asked, "payment_credentials")
	var stored, adopted bool // the fresh credentials, by this call
	change := func(present payments.Gateway) (commands.Command, error) {
		command, err := g.command(ctx, asked.Org(), in, present.Credentials, fresh)
		adopted = command.CredentialsRef == fresh
		stored = stored || adopted && err == nil
		return command, err
	}
	done, err := usecases.Amend(ctx, g.Bus, asked, asked.Org(), change)
	if failure.CodeOf(err) == "gateway_not_found" { // there are no settings to change yet
		var first commands.Command
		if first, err = change(payments.Gateway{}); err == nil {
			done, err = g.Bus.Execute(ctx, first, asked.Meta)
		}
	}
	kind := failure.KindOf(err)
	refused := kind == failure.Conflict || kind == failure.Stale
	if refused || err == nil && stored && !adopted { // nothing will ever refer to the fresh credentials
		err = errors.Join(err, g.Secrets.Delete(ctx, fresh))
	}
	return done, err
}

// allows refuses settings that do not fit the platform's own. Fails: invalid_input, shortcode_taken.
func (g Gateways) allows(in GatewayInput) error {
	sandbox := g.Platform.Live && g.Platform.Environment == commands.EnvironmentSandbox
	switch {
	case sandbox && in.Environment == commands.EnvironmentProduction:
		return failure.NewInvalid("invalid_input",
			"environment must be sandbox: this platform runs in the provider's sandbox")
	case in.Direct && in.Shortcode != "" && in.Shortcode == g.Platform.Shortcode:
		return failure.NewConflict("shortcode_taken",
			"This shortcode belongs to another organization or to the platform.")
	}
	return nil
}

// command completes the settings, and stores credentials that differ from the present ones under the fresh reference.
func (g Gateways) command(
	ctx context.Context, org id.Organization, in GatewayInput, present, fresh id.Secret,
) (commands.ConfigureGateway, error) {
	command := commands.ConfigureGateway{
		OrgID: org, Direct: in.Direct, Environment: in.Environment, RejectUnknownAccounts: in.RejectUnknownAccounts,
	}
	if !in.Direct {
		return command, nil
	}
	before, err := g.read(ctx, present)
	if err != nil {
		return command, err
	}
	after, err := in.credentials(before)
	if err != nil {
		return command, err
	}
	command.Shortcode, command.CredentialsRef = in.Shortcode, present
	if after != before {
		command.CredentialsRef = fresh
	}
	if err := command.Validate(); err != nil || after == before {
		return command, err
	}
	plain, err := json.Marshal(after)
	if err != nil {
		return command, fmt.Errorf("write payment credentials: %w", err)
	}
	return command, g.Secrets.Put(ctx,
		vault.Secret{Ref: fresh, OrgID: org, Purpose: commands.GatewayCredentialsPurpose}, plain)
}

// read gives the credentials behind a reference; empty ones for the zero reference.
func (g Gateways) read(ctx context.Context, ref id.Secret) (commands.GatewayCredentials, error) {
	var out commands.GatewayCredentials
	if ref.IsZero() {
		return out, nil
	}
	plain, err := g.Secrets.Get(ctx, ref)
	if err == nil {
		err = json.Unmarshal(plain, &out)
	}
	if err != nil {
		return out, fmt.Errorf("read payment credentials: %w", err)
	}
	return out, nil
}

// credentials are the present ones, with new values where some are given; direct mode needs all three.
func (in GatewayInput) credentials(before commands.GatewayCredentials) (commands.GatewayCredentials, error) {
	after := commands.GatewayCredentials{
		ConsumerKey:    orBefore(in.ConsumerKey, before.ConsumerKey),
		ConsumerSecret: orBefore(in.ConsumerSecret, before.ConsumerSecret),
		Passkey:        orBefore(in.Passkey, before.Passkey),
	}
	var faults failure.Faults
	faults.Check(after.ConsumerKey != "", "consumerKey", "is required in direct mode")
	faults.Check(after.ConsumerSecret != "", "consumerSecret", "is required in direct mode")
	faults.Check(after.Passkey != "", "passkey", "is required in direct mode")
	return after, faults.Err()
}

// orBefore is the given secret, or the present one when the given one is empty or hidden.
func orBefore(given secrets.Text, before string) string {
	if given.IsZero() || given.Reveal() == secrets.Hidden {
		return before
	}
	return given.Reveal()
}

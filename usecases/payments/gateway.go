package paymentscases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/payments"
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
	// Gateways shows which shortcodes are proven; the zero value = nobody is asked, and the claim alone decides.
	Gateways paymentsviews.GatewaysQuery
}

// Paybill is the number that customers pay to, and its environment; "" while no number takes money of a currency. What
// is paid there is KES, which no account in another currency takes. row = the organization's settings; nil = it never
// made any, so it uses the platform's number.
func (g Gateways) Paybill(row *paymentsviews.GatewayRow, currency money.Currency) (shortcode, environment string) {
	switch {
	case currency != money.KES:
		return "", ""
	case row != nil && row.Direct && !row.Active():
		return "", ""
	case row != nil && row.Direct:
		return row.Shortcode, row.Environment
	case g.Platform.Shortcode == "":
		return "", ""
	}
	return g.Platform.Shortcode, g.Platform.Environment
}

// GatewayInput has the settings that an organization wants.
type GatewayInput struct {
	Direct      bool   // on a shortcode of its own; false = on the platform's
	Environment string // "" = the platform's
	Shortcode   string // of direct mode only, like the secrets
	// A secret that is absent or secrets.Hidden stays as it is.
	ConsumerKey, ConsumerSecret, Passkey secrets.Text
	// Initiator and SecurityCredential are optional. "" and secrets.Hidden leave them as they are; the name "-" removes
	// both.
	Initiator             string
	SecurityCredential    secrets.Text
	RejectUnknownAccounts bool // refuse paybill payments that name no account of the organization
	// NominatedNumber is the phone that answers for the shortcode when payments are asked for; nil leaves it as it is,
	// "" removes it.
	NominatedNumber *string
}

// storedRefs name the secrets that a change has put into the vault; zero = nothing.
type storedRefs struct{ credentials, nominated id.Secret }

// all leaves out those that are zero.
func (s storedRefs) all() []id.Secret {
	return slices.DeleteFunc([]id.Secret{s.credentials, s.nominated}, id.Secret.IsZero)
}

// namedBy reports whether settings name all of them.
func (s storedRefs) namedBy(g payments.Gateway) bool {
	return (s.credentials.IsZero() || s.credentials == g.Credentials) &&
		(s.nominated.IsZero() || s.nominated == g.Nominated)
}

// Configure adopts settings. New credentials are stored in the vault under a new reference before the settings name
// them: the registration of the shortcode, which makes it active, begins at once
// (docs/rules/payments.md#direct-shortcode). No reference is ever written twice, and what no settings came to name is
// deleted again; a crash in between leaves credentials to which nothing refers. Credentials that are already in use
// keep their reference, and with it the registration. A change is adopted only at the revision that it was made from,
// so of two changes at once neither undoes the other's credentials; of two first settings at once the later one stays.
// A repeat under the same key adopts nothing more.
//
// A shortcode that another organization has proven is refused at once. That is a courtesy: the claim decides, when the
// registration succeeds. Fails: invalid_input, shortcode_taken, concurrent_change.
func (g Gateways) Configure(ctx context.Context, asked usecases.Asked, in GatewayInput) (bus.Result, error) {
	if in.Environment == "" {
		in.Environment = g.Platform.Environment
	}
	if err := g.allows(ctx, asked.Org(), in); err != nil {
		return bus.Result{}, err
	}
	var stored []storedRefs // by this call; the last ones may be adopted
	change := func(present payments.Gateway) (commands.Command, error) {
		command, fresh, err := g.command(ctx, asked.Org(), in, present)
		if len(fresh.all()) > 0 {
			stored = append(stored, fresh)
		}
		return command, err
	}
	done, err := usecases.Amend(ctx, g.Bus, asked, asked.Org(), change)
	if failure.CodeOf(err) == "gateway_not_found" { // there are no settings to change yet
		var first commands.Command
		if first, err = change(payments.Gateway{}); err == nil {
			done, err = g.Bus.Execute(ctx, first, asked.Meta)
		}
	}
	return done, g.tidy(ctx, asked.Org(), stored, done, err)
}

// tidy deletes the credentials that no settings came to name, and gives the error of the change. The last ones stay
// unless the change was certainly not made with them: an unknown outcome may have named them, and so may a command that
// acted although its answer was lost.
func (g Gateways) tidy(
	ctx context.Context, org id.Organization, stored []storedRefs, done bus.Result, err error,
) error {
	if len(stored) == 0 {
		return err
	}
	last := stored[len(stored)-1]
	unnamed := stored[:len(stored)-1]
	switch kind := failure.KindOf(err); {
	case kind == failure.Conflict, kind == failure.Stale:
		unnamed = stored
	case err == nil && !done.Changed:
		present, _, fault := bus.LoadUnchecked[payments.Gateway](ctx, g.Bus, org)
		if fault == nil && !last.namedBy(present) {
			unnamed = stored
		}
	}
	for _, refs := range unnamed {
		for _, ref := range refs.all() {
			err = errors.Join(err, g.Secrets.Delete(ctx, ref))
		}
	}
	return err
}

// allows refuses settings that do not fit the platform's own, and a shortcode that is known to be another's. Fails:
// invalid_input, shortcode_taken.
func (g Gateways) allows(ctx context.Context, org id.Organization, in GatewayInput) error {
	sandbox := g.Platform.Live && g.Platform.Environment == commands.EnvironmentSandbox
	switch {
	case sandbox && in.Environment == commands.EnvironmentProduction:
		return failure.NewInvalid("invalid_input",
			"environment must be sandbox: this platform runs in the provider's sandbox")
	case in.Direct && in.Shortcode != "" && in.Shortcode == g.Platform.Shortcode:
		return shortcodeTaken()
	case !in.Direct || in.Shortcode == "" || g.Gateways.Views == nil:
		return nil
	}
	owners, err := g.Gateways.Shortcodes(ctx, in.Shortcode)
	for _, o := range owners {
		if o.Active && o.OrgID != org && o.Environment == in.Environment {
			return shortcodeTaken()
		}
	}
	return err
}

// shortcodeTaken has the words of the claim's own failure.
func shortcodeTaken() error {
	return failure.NewConflict("shortcode_taken",
		"This shortcode belongs to another organization or to the platform.")
}

// command completes the settings, and stores credentials and a phone that differ from the present ones under fresh
// references.
func (g Gateways) command(
	ctx context.Context, org id.Organization, in GatewayInput, present payments.Gateway,
) (command commands.ConfigureGateway, fresh storedRefs, err error) {
	command = commands.ConfigureGateway{
		OrgID: org, Direct: in.Direct, Environment: in.Environment, RejectUnknownAccounts: in.RejectUnknownAccounts,
	}
	if !in.Direct {
		return command, fresh, nil
	}
	before, err := g.read(ctx, present.Credentials)
	if err != nil {
		return command, fresh, err
	}
	after, err := in.credentials(before)
	number, changed, fault := g.nominated(ctx, in, present.Nominated)
	if err := failure.JoinFaults(err, fault); err != nil {
		return command, fresh, err
	}
	var made storedRefs
	command.Shortcode = in.Shortcode
	command.CredentialsRef, command.NominatedRef = present.Credentials, present.Nominated
	if after != before {
		made.credentials = id.New[id.Secret]()
		command.CredentialsRef = made.credentials
	}
	if changed {
		if command.NominatedRef = (id.Secret{}); number != "" {
			made.nominated = id.New[id.Secret]()
			command.NominatedRef = made.nominated
		}
	}
	if err := command.Validate(); err != nil {
		return command, fresh, err
	}
	if !made.credentials.IsZero() {
		plain, err := json.Marshal(after)
		if err != nil {
			return command, fresh, fmt.Errorf("write payment credentials: %w", err)
		}
		secret := vault.Secret{Ref: made.credentials, OrgID: org, Purpose: commands.GatewayCredentialsPurpose}
		if err := g.Secrets.Put(ctx, secret, plain); err != nil {
			return command, fresh, err
		}
		fresh.credentials = made.credentials
	}
	if made.nominated.IsZero() {
		return command, fresh, nil
	}
	fresh.nominated = made.nominated
	return command, fresh, g.Secrets.Put(ctx,
		vault.Secret{Ref: made.nominated, OrgID: org, Purpose: commands.NominatedNumberPurpose}, []byte(number))
}

// nominated gives the phone that answers for the shortcode, "" for none, and whether it is another one than before.
func (g Gateways) nominated(
	ctx context.Context, in GatewayInput, present id.Secret,
) (number string, changed bool, err error) {
	before, err := g.Nominated(ctx, present)
	if err != nil || in.NominatedNumber == nil {
		return before, false, err
	}
	if number = inputtext.Code(*in.NominatedNumber); number != "" {
		var is bool
		number, is = commands.NominatedNumber(number)
		var f failure.Faults
		f.Check(is, "nominatedNumber", "must be a phone of the provider, such as +254712345678")
		if err := f.Err(); err != nil {
			return before, false, err
		}
	}
	return number, number != before, nil
}

// Nominated gives the phone behind a reference, in E.164; "" for the zero reference.
func (g Gateways) Nominated(ctx context.Context, ref id.Secret) (string, error) {
	if ref.IsZero() {
		return "", nil
	}
	number, err := g.Secrets.Get(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("read nominated number: %w", err)
	}
	return string(number), nil
}

// HasInitiator reports whether credentials name an operator for status and reversals.
func (g Gateways) HasInitiator(ctx context.Context, ref id.Secret) (bool, error) {
	c, err := g.read(ctx, ref)
	return c.Initiator != "", err
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

		Initiator:          orBefore(secrets.Text(in.Initiator), before.Initiator),
		SecurityCredential: orBefore(in.SecurityCredential, before.SecurityCredential),
	}
	if in.Initiator == noInitiator {
		after.Initiator, after.SecurityCredential = "", ""
	}
	var faults failure.Faults
	faults.Check(after.ConsumerKey != "", "consumerKey", "is required in direct mode")
	faults.Check(after.ConsumerSecret != "", "consumerSecret", "is required in direct mode")
	faults.Check(after.Passkey != "", "passkey", "is required in direct mode")
	faults.Check((after.Initiator == "") == (after.SecurityCredential == ""), "securityCredential",
		"and initiator go together")
	return after, faults.Err()
}

// noInitiator is the name that removes the initiator.
const noInitiator = "-"

// orBefore is the given secret, or the present one when the given one is empty or hidden.
func orBefore(given secrets.Text, before string) string {
	if given.IsZero() || given.Reveal() == secrets.Hidden {
		return before
	}
	return given.Reveal()
}

package billingcases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// TaxGateways configures how the documents of organizations are signed. Safe for concurrent use.
type TaxGateways struct {
	Bus     *bus.Bus
	Secrets *vault.Secrets
	// Allows refuses an address that a gateway may not have, and a secret that everybody can read.
	Allows func(address string, secret secrets.Text) error
}

// TaxGatewayInput has the settings that an organization wants.
type TaxGatewayInput struct {
	On                      bool
	Address, Serial, Branch string       // "" while it is off = as before
	Secret                  secrets.Text // absent or secrets.Hidden = as before
	Messages                bool
}

// Configure adopts settings. A new secret is stored in the vault under a new reference before the settings name it; no
// reference is ever written twice, and what no settings came to name is deleted again. A change is adopted only at the
// revision that it was made from. What is on needs the organization's own tax PIN, which is on every document. Fails:
// invalid_input, concurrent_change.
func (g TaxGateways) Configure(ctx context.Context, asked usecases.Asked, in TaxGatewayInput) (bus.Result, error) {
	if err := g.allows(ctx, asked.Org(), in); err != nil {
		return bus.Result{}, err
	}
	var stored []id.Secret // by this call; the last one may be adopted
	change := func(present billing.TaxGateway) (commands.Command, error) {
		command, fresh, err := g.command(ctx, asked.Org(), in, present)
		if !fresh.IsZero() {
			stored = append(stored, fresh)
		}
		return command, err
	}
	done, err := usecases.Amend(ctx, g.Bus, asked, asked.Org(), change)
	if failure.CodeOf(err) == "tax_gateway_not_found" { // there are no settings to change yet
		var first commands.Command
		if first, err = change(billing.TaxGateway{}); err == nil {
			done, err = g.Bus.Execute(ctx, first, asked.Meta)
		}
	}
	return done, g.tidy(ctx, asked.Org(), stored, done, err)
}

// allows refuses settings that the platform or the organization's other settings forbid.
func (g TaxGateways) allows(ctx context.Context, org id.Organization, in TaxGatewayInput) error {
	var f failure.Faults
	if in.Address != "" {
		if err := g.Allows(in.Address, ""); err != nil {
			f.Check(false, "address", "%s", err.Error())
		}
	}
	if !in.Secret.IsZero() && in.Secret.Reveal() != secrets.Hidden {
		if err := g.Allows("", in.Secret); err != nil {
			f.Check(false, "secret", "%s", err.Error())
		}
	}
	if in.On {
		settings, err := usecases.BillingSettings(ctx, g.Bus, org)
		if err != nil {
			return err
		}
		f.Check(strings.TrimSpace(settings.TaxPIN) != "", "taxPin",
			"of the organization is required first: see its settings")
	}
	return f.Err()
}

// command completes the settings, and stores a secret that differs from the present one under a fresh reference, which
// is zero when there was nothing to store.
func (g TaxGateways) command(
	ctx context.Context, org id.Organization, in TaxGatewayInput, present billing.TaxGateway,
) (command commands.ConfigureTaxGateway, fresh id.Secret, err error) {
	command = commands.ConfigureTaxGateway{
		OrgID: org, On: in.On, Address: strings.TrimRight(in.Address, "/"), Serial: in.Serial, Branch: in.Branch,
		SecretRef: present.Secret, Messages: in.Messages,
	}
	if !in.On { // what still waits is signed with the device as it is
		command.Address = cmp.Or(command.Address, present.Address)
		command.Serial, command.Branch = cmp.Or(in.Serial, present.Serial), cmp.Or(in.Branch, present.Branch)
	}
	given := in.Secret
	if given.IsZero() || given.Reveal() == secrets.Hidden {
		return command, fresh, command.Validate()
	}
	before, err := g.Secret(ctx, present.Secret)
	if err != nil || before == given {
		return command, fresh, err
	}
	candidate := id.New[id.Secret]()
	command.SecretRef = candidate
	if err := command.Validate(); err != nil {
		return command, fresh, err
	}
	return command, candidate, g.Secrets.Put(ctx,
		vault.Secret{Ref: candidate, OrgID: org, Purpose: commands.TaxSecretPurpose}, []byte(given.Reveal()))
}

// Secret reads the secret of a device; "" for the zero reference.
func (g TaxGateways) Secret(ctx context.Context, ref id.Secret) (secrets.Text, error) {
	if ref.IsZero() {
		return "", nil
	}
	plain, err := g.Secrets.Get(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("read secret of the tax gateway: %w", err)
	}
	return secrets.Text(plain), nil
}

// tidy deletes the secrets that no settings came to name, and gives the error of the change. The last one stays unless
// the change was certainly not made with it, as with the credentials of the payment gateway.
func (g TaxGateways) tidy(
	ctx context.Context, org id.Organization, stored []id.Secret, done bus.Result, err error,
) error {
	if len(stored) == 0 {
		return err
	}
	last := stored[len(stored)-1]
	unnamed := stored[:len(stored)-1]
	switch kind := failure.KindOf(err); {
	case kind == failure.Conflict, kind == failure.Stale, kind == failure.Invalid:
		unnamed = stored
	case err == nil && !done.Changed:
		present, _, fault := bus.LoadUnchecked[billing.TaxGateway](ctx, g.Bus, org)
		if fault == nil && present.Secret != last {
			unnamed = stored
		}
	}
	for _, ref := range unnamed {
		err = errors.Join(err, g.Secrets.Delete(ctx, ref))
	}
	return err
}

package networkapi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// tunnelTries bounds how many addresses are tried before giving up: the plan is then as good as full.
const tunnelTries = 200

// registerDevice keeps the secrets, then makes the router known under the first tunnel address that is free.
func (a API) registerDevice(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[deviceRequest](c)
	if err != nil {
		return err
	}
	command := commands.RegisterDevice{
		DeviceID: usecases.NewID[id.Device](c.Asked(), "device"), OrgID: c.Org.ID, Details: events.DeviceDetails{
			Name: strings.TrimSpace(in.Name), IPAddress: strings.TrimSpace(in.IPAddress),
			CoAPort:           null.Or(in.CoAPort, commands.DefaultCoAPort),
			APIPort:           null.Or(in.APIPort, commands.DefaultAPIPort),
			ManagementAddress: strings.TrimSpace(in.ManagementAddress),
		},
		RadiusRef: usecases.NewID[id.Secret](c.Asked(), "device_radius"),
		TunnelRef: usecases.NewID[id.Secret](c.Asked(), "device_tunnel"),
	}
	command.TunnelUser = "nas-" + strings.ReplaceAll(command.DeviceID.String(), "-", "")
	command.TunnelAddress = network.TunnelCandidate(command.DeviceID, 0)
	if err := a.checkDevice(command.Details, in.RadiusSecret, in.APIUsername, in.APIPassword); err != nil {
		return err
	}
	if err := command.Validate(); err != nil {
		return err
	}
	if in.APIUsername != "" {
		command.APIRef = usecases.NewID[id.Secret](c.Asked(), "device_api")
		if err := a.keepAPI(ctx, c.Org.ID, command.APIRef, in.APIUsername, in.APIPassword); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		ref   id.Secret
		kind  events.CredentialKind
		value string
	}{
		{command.RadiusRef, events.CredentialRadius, in.RadiusSecret.Reveal()}, {
			command.TunnelRef, events.CredentialTunnel, rand.Text(),
		},
	} {
		if err := a.keep(ctx, c.Org.ID, s.ref, s.kind, []byte(s.value)); err != nil {
			return err
		}
	}
	done, err := a.register(ctx, c, command)
	if err != nil {
		return err
	}
	return a.sendDevice(ctx, c, 201, command.DeviceID, done)
}

// register tries one tunnel address after the other.
func (a API) register(ctx context.Context, c *httpapi.Call, command commands.RegisterDevice) (bus.Result, error) {
	for try := range tunnelTries {
		command.TunnelAddress = network.TunnelCandidate(command.DeviceID, try)
		done, err := a.Bus.Execute(ctx, command, c.Meta())
		if failure.CodeOf(err) != "tunnel_address_taken" {
			return done, err
		}
	}
	return bus.Result{}, failure.NewConflict("tunnel_addresses_exhausted", "No tunnel address is free.")
}

// checkDevice notes what the command cannot know: secrets, and whether another address than the tunnel's may be
// dialled.
func (a API) checkDevice(d events.DeviceDetails, radius secrets.Text, user string, password secrets.Text) error {
	var f failure.Faults
	f.Check(a.ManagementAddresses || d.ManagementAddress == "", "managementAddress",
		"is not allowed in production: routers are reached through the tunnel")
	f.Check(secretShape(radius.Reveal()), "radiusSecret", "must have 1 to 128 printable characters without spaces")
	f.Check((user == "") == password.IsZero(), "apiPassword", "and apiUsername go together")
	f.Check(user == "" || len(user) <= 64 && secretShape(user), "apiUsername",
		"must have 1 to 64 printable characters without spaces")
	f.Check(password.IsZero() || len(password.Reveal()) <= 128 &&
		!strings.ContainsFunc(password.Reveal(), func(r rune) bool { return r < ' ' || r == 127 }),
		"apiPassword", "must have at most 128 printable characters")
	return f.Err()
}

// secretShape tells whether a word can stand in a router's script and configuration.
func secretShape(text string) bool {
	return text != "" && len(text) <= 128 &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// keep stores one secret of a router.
func (a API) keep(
	ctx context.Context, org id.Organization, ref id.Secret, kind events.CredentialKind, plain []byte,
) error {
	err := a.Secrets.Put(ctx, vault.Secret{Ref: ref, OrgID: org, Purpose: commands.DeviceSecretPurpose(kind)}, plain)
	if err != nil {
		return fmt.Errorf("keep %s secret: %w", kind, err)
	}
	return nil
}

// keepAPI stores user and password of a router's API.
func (a API) keepAPI(
	ctx context.Context, org id.Organization, ref id.Secret, user string, password secrets.Text,
) error {
	plain, err := json.Marshal(commands.DeviceAPICredentials{Username: user, Password: password.Reveal()})
	if err != nil {
		return fmt.Errorf("write API credentials: %w", err)
	}
	return a.keep(ctx, org, ref, events.CredentialAPI, plain)
}

// deviceChange is the body of PATCH: what is absent stays.
type deviceChange struct {
	Name              *string       `json:"name,omitempty"`
	IPAddress         *string       `json:"ipAddress,omitempty"`
	RadiusSecret      *secrets.Text `json:"radiusSecret,omitempty"`
	CoAPort           *int          `json:"coaPort,omitempty"`
	APIUsername       *string       `json:"apiUsername,omitempty" doc:"with apiPassword; \"\" takes the credentials away"`
	APIPassword       *secrets.Text `json:"apiPassword,omitempty"`
	APIPort           *int          `json:"apiPort,omitempty"`
	ManagementAddress *string       `json:"managementAddress,omitempty" doc:"\"\" = the tunnel address"`
}

// details are a router's with the change.
func (in deviceChange) details(d events.DeviceDetails) events.DeviceDetails {
	for _, f := range []struct {
		given *string
		to    *string
	}{{in.Name, &d.Name}, {in.IPAddress, &d.IPAddress}, {in.ManagementAddress, &d.ManagementAddress}} {
		if f.given != nil {
			*f.to = strings.TrimSpace(*f.given)
		}
	}
	d.CoAPort, d.APIPort = null.Or(in.CoAPort, d.CoAPort), null.Or(in.APIPort, d.APIPort)
	return d
}

// changeDevice adopts new details and credentials.
func (a API) changeDevice(ctx context.Context, c *httpapi.Call) error {
	device, state, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[deviceChange](c)
	if err != nil {
		return err
	}
	radius := secrets.Text("unchanged")
	if in.RadiusSecret != nil {
		radius = *in.RadiusSecret
	}
	details := in.details(state.Details)
	kept := details
	if details.ManagementAddress == state.Details.ManagementAddress {
		kept.ManagementAddress = "" // what was allowed once is no fault of this request
	}
	if err := a.checkDevice(kept, radius, null.Zero(in.APIUsername), null.Zero(in.APIPassword)); err != nil {
		return err
	}
	if err := (commands.CorrectDevice{DeviceID: device, Details: details}).Validate(); err != nil {
		return err
	}
	if err := a.replaceCredentials(ctx, c, device, in); err != nil {
		return err
	}
	done, err := usecases.Amend(ctx, a.Bus, c.Asked(), device,
		func(present network.Device) (commands.Command, error) {
			return commands.CorrectDevice{DeviceID: device, Details: in.details(present.Details)}, nil
		})
	if err != nil {
		return err
	}
	return a.sendDevice(ctx, c, 200, device, done)
}

// replaceCredentials keeps new secrets under references of their own, then adopts them.
func (a API) replaceCredentials(ctx context.Context, c *httpapi.Call, device id.Device, in deviceChange) error {
	if in.RadiusSecret != nil {
		ref := usecases.NewID[id.Secret](c.Asked(), "device_radius")
		if err := a.keep(ctx, c.Org.ID, ref, events.CredentialRadius, []byte(in.RadiusSecret.Reveal())); err != nil {
			return err
		}
		if _, err := a.Bus.Execute(ctx,
			commands.ReplaceDeviceCredentials{DeviceID: device, Kind: events.CredentialRadius, Ref: ref},
			c.Asked().Step("radius")); err != nil {
			return err
		}
	}
	if in.APIUsername == nil {
		return nil
	}
	var ref id.Secret
	if *in.APIUsername != "" {
		ref = usecases.NewID[id.Secret](c.Asked(), "device_api")
		if err := a.keepAPI(ctx, c.Org.ID, ref, *in.APIUsername, null.Zero(in.APIPassword)); err != nil {
			return err
		}
	}
	_, err := a.Bus.Execute(ctx, commands.ReplaceDeviceCredentials{DeviceID: device, Kind: events.CredentialAPI,
		Ref: ref}, c.Asked().Step("api"))
	return err
}

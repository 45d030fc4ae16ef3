package networkcases

import (
	"context"
	"crypto/rand"
	"net/netip"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Devices registers, changes and ends routers. All fields are required but ManagementAddresses, SecretLength
// and PerAddress; CountAt only with PerAddress. Safe for concurrent use.
type Devices struct {
	Bus     *bus.Bus
	Secrets *vault.Secrets
	// Soon has a router polled at once, with its details as of a position of the log. It must not block.
	Soon func(device id.Device, position uint64)
	// Forget drops the breaker, connections and polls of a router that was decommissioned.
	Forget func(device id.Device)
	// Script makes a router's bootstrap script, with its secrets. A router without API credentials gets some by a
	// command with the caller's meta.
	Script func(ctx context.Context, device id.Device, meta commands.Meta) (script string, radius id.Secret, err error)
	// RevokeReports makes the address unknown at which the scripts of a router report; the next script has another one.
	RevokeReports func(ctx context.Context, device id.Device) error
	// Limiter counts how often the script of a router is shown, and how often an address is claimed.
	Limiter vault.Limiter
	// Count gives how many routers an organization has. It may lag behind by a moment.
	Count func(ctx context.Context, org id.Organization) (int, error)
	// PerOrganization is how many routers an organization may have: all share the addresses of the tunnel.
	PerOrganization int
	// CountAt gives how many routers of an organization have a WAN address. It may lag behind by a moment.
	CountAt func(ctx context.Context, org id.Organization, address string) (int, error)
	// PerAddress is how many routers an organization may have at one WAN address, since RADIUS tries the secrets of
	// all of them; 0 = any number.
	PerAddress int
	// SecretLength is how many characters a new RADIUS secret has at least, so that nobody guesses it; 0 = one. Older
	// ones go on.
	SecretLength int
	// ManagementAddresses allows other addresses than the tunnel's; it is for use outside production only.
	ManagementAddresses bool
}

// RegisterInput describes a new router. Spaces around name and addresses are removed.
type RegisterInput struct {
	Name              string
	IPAddress         string // of the RADIUS client
	CoAPort           *int   // nil = 3799
	APIPort           *int   // nil = 80
	ManagementAddress string // "" = the tunnel address is dialled
	RadiusSecret      secrets.Text
	APIUsername       string // "" = credentials are made with the bootstrap script
	APIPassword       secrets.Text

	RequireMessageAuthenticator bool
	UpstreamID                  id.Device // zero = behind none
}

// details are the router's details in the form of events, with the default ports.
func (in RegisterInput) details() events.DeviceDetails {
	return events.DeviceDetails{
		Name: inputtext.Text(in.Name), IPAddress: usualAddress(in.IPAddress),
		CoAPort: null.Or(in.CoAPort, commands.DefaultCoAPort), APIPort: null.Or(in.APIPort, commands.DefaultAPIPort),
		ManagementAddress:           inputtext.Code(in.ManagementAddress),
		RequireMessageAuthenticator: in.RequireMessageAuthenticator,
	}
}

// usualAddress writes an IP address in its usual form, so that routers at one address are counted together however it
// was typed. What is no address stays, and is refused.
func usualAddress(text string) string {
	text = inputtext.Code(text)
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Unmap().String()
	}
	return text
}

// Register stores the secrets in the vault, then registers the router under the first free tunnel address, and has it
// polled. A crash in between leaves secrets to which no router refers. A repeat under the same key finds the router and
// keeps the secrets that it has. Fails: invalid_input, router_quota_reached, address_routers_reached, rate_limited,
// tunnel_addresses_exhausted.
func (d Devices) Register(ctx context.Context, asked usecases.Asked, in RegisterInput) (id.Device, bus.Result, error) {
	device := usecases.NewID[id.Device](asked, "device")
	command := commands.RegisterDevice{
		DeviceID: device, OrgID: asked.Org(), Details: in.details(),
		TunnelUser:    "nas-" + strings.ReplaceAll(device.String(), "-", ""),
		TunnelAddress: network.TunnelCandidate(device, 0),
		RadiusRef:     newRef(asked, events.CredentialRadius), TunnelRef: newRef(asked, events.CredentialTunnel),
	}
	if in.APIUsername != "" {
		command.APIRef = newRef(asked, events.CredentialAPI)
	}
	given := credentials{&in.RadiusSecret, in.APIUsername, in.APIPassword}
	if err := d.check(command.Details, given); err != nil {
		return device, bus.Result{}, err
	}
	if err := command.Validate(); err != nil {
		return device, bus.Result{}, err
	}
	if err := d.canStandBehind(ctx, asked.Org(), device, in.UpstreamID); err != nil {
		return device, bus.Result{}, err
	}
	if err := d.keepFirst(ctx, command, given); err != nil {
		return device, bus.Result{}, err
	}
	done, err := d.register(ctx, asked, command)
	err = d.forgetRefused(ctx, device, err, command.RadiusRef, command.TunnelRef, command.APIRef)
	if err == nil && !in.UpstreamID.IsZero() {
		done, err = d.standBehind(ctx, asked, device, in.UpstreamID, done)
	}
	if err == nil {
		d.Soon(device, done.Position)
	}
	return device, done, err
}

// room refuses one more router for an organization that has all that it may have. Routers that are registered at the
// same moment may go over the bound by their number, which leaves enough for everybody else. Fails:
// router_quota_reached.
func (d Devices) room(ctx context.Context, org id.Organization) error {
	has, err := d.Count(ctx, org)
	if err != nil {
		return err
	}
	if has >= d.PerOrganization {
		return failure.NewConflict("router_quota_reached", "Your organization has as many routers as it may have. "+
			"Delete routers that are no longer used, or ask the platform's operator for more.")
	}
	return nil
}

// roomAt refuses one more router of an organization at an address. As with room, routers that are registered at the
// same moment may go over the bound by their number. Fails: address_routers_reached.
func (d Devices) roomAt(ctx context.Context, org id.Organization, address string) error {
	if d.PerAddress == 0 {
		return nil
	}
	has, err := d.CountAt(ctx, org, address)
	if err != nil {
		return err
	}
	if has >= d.PerAddress {
		return failure.NewConflict("address_routers_reached", "Your organization has as many routers at this IP "+
			"address as it may have. Give this router another one, such as its address in your own network: it "+
			"reaches the platform through its tunnel.")
	}
	return nil
}

// keepFirst stores the secrets of a router that is about to be registered, unless the first try has registered it.
// Where any number of routers may be at an address, their claims are not counted. Fails: router_quota_reached,
// address_routers_reached, rate_limited.
func (d Devices) keepFirst(ctx context.Context, command commands.RegisterDevice, given credentials) error {
	// Unchecked, because no other organization can have an id that was made for this use case. When the router exists,
	// the first try registered it, and its tunnel secret may be in a script already.
	known, _, err := bus.LoadUnchecked[network.Device](ctx, d.Bus, command.DeviceID)
	if err != nil || !known.ID.IsZero() {
		return err
	}
	if err := d.room(ctx, command.OrgID); err != nil {
		return err
	}
	if err := d.roomAt(ctx, command.OrgID, command.Details.IPAddress); err != nil {
		return err
	}
	if d.PerAddress > 0 {
		if err := d.claim(ctx, command.OrgID, command.Details.IPAddress); err != nil {
			return err
		}
	}
	if !command.APIRef.IsZero() {
		if err := d.keepAPI(ctx, command.OrgID, command.APIRef, given); err != nil {
			return err
		}
	}
	if err := d.keep(ctx, command.OrgID, command.RadiusRef, events.CredentialRadius, *given.radius); err != nil {
		return err
	}
	return d.keep(ctx, command.OrgID, command.TunnelRef, events.CredentialTunnel, secrets.Text(rand.Text()))
}

// tunnelTries bounds how many tunnel addresses are tried: when all of these are taken, nearly all addresses are.
const tunnelTries = 200

// register tries one tunnel address after another, since only the claim of an address shows whether it is free. Fails:
// tunnel_addresses_exhausted.
func (d Devices) register(
	ctx context.Context, asked usecases.Asked, command commands.RegisterDevice,
) (bus.Result, error) {
	for try := range tunnelTries {
		command.TunnelAddress = network.TunnelCandidate(command.DeviceID, try)
		done, err := d.Bus.Execute(ctx, command, asked.Meta)
		if failure.CodeOf(err) != "tunnel_address_taken" {
			return done, err
		}
	}
	return bus.Result{}, failure.NewConflict("tunnel_addresses_exhausted",
		"No tunnel address is free. Please remove routers that are no longer used.")
}

// DeviceChange has the new values of a router; nil = no change.
type DeviceChange struct {
	Name              *string
	IPAddress         *string
	CoAPort           *int
	APIPort           *int
	ManagementAddress *string // "" = the tunnel address
	RadiusSecret      *secrets.Text
	APIUsername       *string // "" takes the credentials away
	APIPassword       *secrets.Text

	RequireMessageAuthenticator *bool
	UpstreamID                  *id.Device // zero = behind none
}

// details applies the change to the present details.
func (in DeviceChange) details(d events.DeviceDetails) events.DeviceDetails {
	for _, f := range []struct {
		given *string
		to    *string
	}{{in.Name, &d.Name}, {in.IPAddress, &d.IPAddress}, {in.ManagementAddress, &d.ManagementAddress}} {
		if f.given != nil {
			*f.to = strings.TrimSpace(*f.given)
		}
	}
	d.IPAddress = usualAddress(d.IPAddress)
	d.CoAPort, d.APIPort = null.Or(in.CoAPort, d.CoAPort), null.Or(in.APIPort, d.APIPort)
	d.RequireMessageAuthenticator = null.Or(in.RequireMessageAuthenticator, d.RequireMessageAuthenticator)
	return d
}

// overtakes reports whether a change sets a field that another change has set to something else since from, the state
// that this change was made from.
func (in DeviceChange) overtakes(from, now events.DeviceDetails) bool {
	return overtakes(in.Name, from.Name, now.Name) || overtakes(in.IPAddress, from.IPAddress, now.IPAddress) ||
		overtakes(in.CoAPort, from.CoAPort, now.CoAPort) || overtakes(in.APIPort, from.APIPort, now.APIPort) ||
		overtakes(in.ManagementAddress, from.ManagementAddress, now.ManagementAddress) ||
		overtakes(in.RequireMessageAuthenticator, from.RequireMessageAuthenticator, now.RequireMessageAuthenticator)
}

// Change corrects the details, then adopts new credentials, each under a new reference in the vault, and has the router
// polled. If-Match is checked with the details, before any credential changes; a crash in between leaves the former
// credentials in use. A repeat under the same key goes on where the first try ended. Two changes at once of different
// fields both count; of two of the same field one is refused. Fails: device_not_found, invalid_input, stale_revision,
// concurrent_change, address_routers_reached, rate_limited, upstream_cycle, and device_not_found for an upstream.
func (d Devices) Change(
	ctx context.Context, asked usecases.Asked, device id.Device, in DeviceChange,
) (bus.Result, error) {
	if in.UpstreamID != nil {
		if err := d.canStandBehind(ctx, asked.Org(), device, *in.UpstreamID); err != nil {
			return bus.Result{}, err
		}
	}
	var from *network.Device // the state that the change was made from
	done, err := usecases.Amend(ctx, d.Bus, asked, device, func(present network.Device) (commands.Command, error) {
		first := from == nil
		if first {
			from = &present
			var err error
			if in.RadiusSecret, err = d.another(ctx, present, in.RadiusSecret); err != nil {
				return nil, err
			}
		} else if in.overtakes(from.Details, present.Details) {
			return nil, bus.ErrConcurrentChange()
		}
		to := in.details(present.Details)
		if err := d.checkChange(present.Details, to, in); err != nil {
			return nil, err
		}
		moves := to.IPAddress != present.Details.IPAddress
		if moves {
			if err := d.roomAt(ctx, asked.Org(), to.IPAddress); err != nil {
				return nil, err
			}
		}
		if first && (moves || in.RadiusSecret != nil) {
			if err := d.claim(ctx, asked.Org(), to.IPAddress); err != nil {
				return nil, err
			}
		}
		return commands.CorrectDevice{DeviceID: device, Details: to}, nil
	})
	if err != nil {
		return done, err
	}
	if done, err = d.replaceCredentials(ctx, asked, *from, in, done); err != nil {
		return done, err
	}
	if in.UpstreamID != nil {
		if done, err = d.standBehind(ctx, asked, device, *in.UpstreamID, done); err != nil {
			return done, err
		}
	}
	d.Soon(device, done.Position)
	return done, nil
}

// Decommission ends a router without services: first the address plan is closed for new services on it, then its tunnel
// address becomes free, then its secrets are deleted, except the one of RADIUS, which the job that ends the sessions of
// the router deletes (docs/rules/access-enforcement.md#ended-by-hand-and-by-others). A crash after the first step, or
// an If-Match that fails, leaves a router that takes no services; a later crash leaves secrets to which no router
// refers. A repeat goes on; for a router that has ended it deletes what was left and fails with device_not_found.
// Fails: device_not_found, device_has_services, stale_revision.
func (d Devices) Decommission(ctx context.Context, asked usecases.Asked, device id.Device) (bus.Result, error) {
	// Unchecked, because a decommissioned router still names the secrets that a crash may have left.
	state, _, err := bus.LoadUnchecked[network.Device](ctx, d.Bus, device)
	switch {
	case err != nil:
		return bus.Result{}, err
	case state.Org.IsZero() || state.Org != asked.Org():
		return bus.Result{}, commands.ErrNoDevice()
	case state.Decommissioned:
		if err := d.drop(ctx, asked, state); err != nil {
			return bus.Result{}, err
		}
		return bus.Result{}, commands.ErrNoDevice()
	}
	closing := commands.CloseAddressingDevice{OrgID: asked.Org(), DeviceID: device}
	if _, err := d.Bus.Execute(ctx, closing, asked.Step("close")); err != nil {
		return bus.Result{}, err
	}
	done, err := d.Bus.Execute(ctx, commands.DecommissionDevice{DeviceID: device}, asked.Meta)
	if err != nil {
		return done, err
	}
	return done, d.drop(ctx, asked, state)
}

// drop deletes the secrets of a decommissioned router that nobody needs, and what else is kept about it. A secret that
// is deleted already is no failure.
func (d Devices) drop(ctx context.Context, asked usecases.Asked, state network.Device) error {
	leaving := commands.LeaveTopology{OrgID: state.Org, DeviceID: state.ID}
	if _, err := d.Bus.Execute(ctx, leaving, asked.Step("leave")); err != nil {
		return err
	}
	for _, ref := range []id.Secret{state.APIRef, state.TunnelRef, state.ReportRef} {
		if ref.IsZero() {
			continue
		}
		if err := d.Secrets.Delete(ctx, ref); err != nil {
			return err
		}
	}
	d.Forget(state.ID)
	return d.RevokeReports(ctx, state.ID)
}

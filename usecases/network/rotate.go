package networkcases

import (
	"context"
	"crypto/rand"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/usecases"
)

// RotateSecrets gives a router another password for the tunnel and makes the address unknown at which its script
// reported: whoever has an older script can use neither. The router needs the new script before its tunnel comes up
// again. A crash in between leaves the former address in use; a repeat under the same key revokes it. Fails:
// device_not_found, stale_revision, concurrent_change.
func (d Devices) RotateSecrets(ctx context.Context, asked usecases.Asked, device id.Device) (bus.Result, error) {
	before, _, err := bus.LoadOwned[network.Device](ctx, d.Bus, asked.Org(), device)
	if err != nil {
		return bus.Result{}, err
	}
	ref := newRef(asked, events.CredentialTunnel)
	if ref != before.TunnelRef {
		err := d.keep(ctx, asked.Org(), ref, events.CredentialTunnel, secrets.Text(rand.Text()))
		if err != nil {
			return bus.Result{}, err
		}
	}
	done, err := d.Bus.Execute(ctx, commands.ReplaceDeviceCredentials{
		DeviceID: device, Kind: events.CredentialTunnel, From: before.TunnelRef, Ref: ref,
	}, asked.Meta)
	if err != nil {
		return done, d.forgetRefused(ctx, device, err, ref)
	}
	now, _, err := bus.LoadUnchecked[network.Device](ctx, d.Bus, device)
	if err != nil {
		return done, err
	}
	if now.TunnelRef == ref { // else this is a late repeat: the address belongs to the script of a newer rotation
		if err := d.RevokeReports(ctx, device); err != nil {
			return done, err
		}
	}
	return done, d.forgetFormer(ctx, now.TunnelRef, before.TunnelRef, ref)
}

// forgetFormer deletes those of some tunnel passwords that are not the present one: the one that was replaced, and one
// that was made for a repeat after which the password was replaced again.
func (d Devices) forgetFormer(ctx context.Context, present id.Secret, refs ...id.Secret) error {
	for _, ref := range refs {
		if ref.IsZero() || ref == present {
			continue
		}
		if err := d.Secrets.Delete(ctx, ref); err != nil {
			return err
		}
	}
	return nil
}

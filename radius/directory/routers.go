package directory

import (
	"net/netip"
	"slices"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/radius"
)

// router is one device. The directory's lock guards it.
type router struct {
	id      id.Device
	org     id.Organization
	details events.DeviceDetails
	tunnel  string
	secret  id.Secret            // the present one
	given   id.Secret            // the one that the device is known to have; zero = not known
	plain   map[id.Secret][]byte // what the vault has given of both

	// The positions of the log since which it has the addresses that it claims, and the secrets that it may use.
	addresses map[netip.Addr]uint64
	secrets   map[id.Secret]uint64
}

// applyRouter applies an event of a device.
func (d *Directory) applyRouter(e events.Event) {
	switch v := e.(type) {
	case events.DeviceRegistered:
		if d.router(v.DeviceID) != nil {
			return
		}
		r := &router{
			id: v.DeviceID, org: v.OrgID, details: v.Details, tunnel: v.TunnelAddress, secret: v.RadiusRef,
			plain: map[id.Secret][]byte{},
		}
		d.routers = append(d.routers, r)
		d.claim(r)
		d.fetch(r, v.RadiusRef)
	case events.DeviceDetailsCorrected:
		d.changeRouter(v.DeviceID, func(r *router) { r.details = v.Details })
	case events.DeviceCredentialsReplaced:
		if v.Kind == events.CredentialRadius {
			d.changeRouter(v.DeviceID, func(r *router) {
				r.secret = v.Ref
				d.fetch(r, v.Ref)
			})
		}
	case events.DeviceBootstrapReported:
		d.given(v.DeviceID, v.RadiusRef)
	case events.DeviceSetupApplied:
		d.given(v.DeviceID, v.RadiusRef)
	case events.DeviceDecommissioned:
		d.routers = slices.DeleteFunc(d.routers, func(r *router) bool { return r.id == v.DeviceID })
		d.tellRouters()
	}
}

// router finds a device that is not decommissioned; nil without one.
func (d *Directory) router(device id.Device) *router {
	for _, r := range d.routers {
		if r.id == device {
			return r
		}
	}
	return nil
}

// changeRouter edits a device and tells the server.
func (d *Directory) changeRouter(device id.Device, edit func(*router)) {
	if r := d.router(device); r != nil {
		edit(r)
		d.claim(r)
		d.tellRouters()
	}
}

// claim notes since when a device has its addresses and secrets. What it gives up and takes again is new: meanwhile
// another one may have claimed it.
func (d *Directory) claim(r *router) {
	r.addresses = since(d.claimed(r.details), r.addresses, d.act.Position)
	r.secrets = since(r.refs(), r.secrets, d.act.Position)
}

// since gives the position at which each of the present things came, which is now for those that were not there before.
func since[K comparable](present []K, before map[K]uint64, now uint64) map[K]uint64 {
	positions := make(map[K]uint64, len(present))
	for _, one := range present {
		at, had := before[one]
		if !had {
			at = now
		}
		positions[one] = at
	}
	return positions
}

// given notes which secret a device has. Zero tells nothing.
func (d *Directory) given(device id.Device, ref id.Secret) {
	if ref.IsZero() {
		return
	}
	d.changeRouter(device, func(r *router) {
		r.given = ref
		for other := range r.plain {
			if other != ref && other != r.secret {
				delete(r.plain, other)
			}
		}
		d.fetch(r, ref)
	})
}

// fetch asks the vault for a secret of a device that is not known yet.
func (d *Directory) fetch(r *router, ref id.Secret) {
	if ref.IsZero() || r.plain[ref] != nil {
		return
	}
	d.secrets.want(ref, func(plain []byte) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if ref == r.secret || ref == r.given {
			r.plain[ref] = plain
			d.tellRouters()
		}
	})
}

// tellRouters has the server told soon, once for many changes.
func (d *Directory) tellRouters() {
	d.routersChanged = true
	loop.Wake(d.secrets.signal)
}

// publish gives the server all devices whose secret is known, when something has changed. A device that has not got its
// present secret yet is there twice, first with the one that it has, so that both are accepted while it is changed.
func (d *Directory) publish() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cfg.SetNAS == nil || !d.routersChanged {
		return
	}
	d.routersChanged = false
	var list []*radius.NAS
	for _, r := range d.routers {
		for _, ref := range r.refs() {
			if len(r.plain[ref]) > 0 {
				list = append(list, d.nas(r, ref))
			}
		}
	}
	d.cfg.SetNAS(list)
}

// refs lists the secrets that a device may use at present.
func (r *router) refs() []id.Secret {
	if r.given.IsZero() || r.given == r.secret {
		return []id.Secret{r.secret}
	}
	return []id.Secret{r.given, r.secret}
}

// nas is a device with one of its secrets. It has claimed an address with it since it has both.
func (d *Directory) nas(r *router, ref id.Secret) *radius.NAS {
	nas := &radius.NAS{
		ID: r.id, Org: r.org, Name: r.details.Name, Secret: r.plain[ref],
		RequireMessageAuthenticator: r.details.RequireMessageAuthenticator,
	}
	if own, err := netip.ParseAddr(r.tunnel); err == nil {
		nas.Own = []netip.Addr{own}
	}
	for _, addr := range d.claimed(r.details) {
		nas.Claimed = append(nas.Claimed, radius.Claim{Addr: addr, Since: max(r.addresses[addr], r.secrets[ref])})
	}
	return nas
}

// claimed lists the addresses that a device claims. Names of hosts are left out: a packet comes from an address.
func (d *Directory) claimed(details events.DeviceDetails) (list []netip.Addr) {
	texts := []string{details.IPAddress}
	if d.cfg.Development {
		texts = append(texts, details.ManagementAddress)
	}
	for _, text := range texts {
		if addr, err := netip.ParseAddr(host(text)); err == nil && !slices.Contains(list, addr.Unmap()) {
			list = append(list, addr.Unmap())
		}
	}
	return list
}

// host is an address without the port that a management address may have.
func host(text string) string {
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return withPort.Addr().String()
	}
	return text
}

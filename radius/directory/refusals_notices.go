package directory

import (
	"iter"
	"maps"
	"net/netip"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
)

// maxLookups is the number of user names of unknown routers that are looked up in all organizations at a time.
const maxLookups = 200

// refuses reports whether support staff should find a result with the router or the customer.
func refuses(r radius.Result) bool {
	return slices.Contains([]radius.Result{
		radius.UnknownNAS, radius.WrongSecret, radius.Unproven, radius.Malformed, radius.OverLimit,
		radius.SecretDoubtful,
	}, r)
}

// Notice counts packets that were dropped or are in doubt as refusals: of the customer whose name a sign-in has, else
// of the router. Where the router is not known, a name counts that one organization alone has: of those whose routers
// may be at the address, or of all where no router is. It is for radius.Config.Notices, and asks nothing but the
// memory.
func (d *Directory) Notice(list []radius.Notice) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	lookups := 0
	var claimants map[netip.Addr][]id.Organization
	for _, n := range list {
		if !refuses(n.Result) {
			continue
		}
		one := telemetry.Refusal{Code: n.Result.String(), FirstAt: n.First, At: n.Last}
		if n.NAS != nil {
			one.OrgID, one.DeviceID = n.NAS.Org, n.NAS.ID
		}
		among := maps.Keys(d.organizations)
		if n.NAS == nil && n.Result != radius.UnknownNAS {
			if claimants == nil {
				claimants = d.claimants()
			}
			among = slices.Values(claimants[n.Source])
		}
		left := int64(n.Count)
		for name, count := range n.Names {
			s := d.byName[login{one.OrgID, name}]
			if n.NAS == nil {
				if lookups++; lookups <= maxLookups {
					s = d.onlyOne(name, among)
				}
			}
			if s == nil {
				continue
			}
			his := one
			his.OrgID, his.SubscriberID, his.SubscriptionID, his.Count = s.org, s.owner, s.id, int64(count)
			d.cfg.Refusals.count(his)
			left -= his.Count
		}
		if one.Count = left; n.NAS != nil && left > 0 {
			d.cfg.Refusals.count(one)
		}
	}
}

// claimants are the organizations whose routers may be at an address, each once. The caller holds the lock.
func (d *Directory) claimants() map[netip.Addr][]id.Organization {
	at := map[netip.Addr][]id.Organization{}
	for _, r := range d.routers {
		for _, addr := range d.claimed(r.details) {
			if !slices.Contains(at[addr], r.org) {
				at[addr] = append(at[addr], r.org)
			}
		}
	}
	return at
}

// onlyOne is the subscription with a username that one of some organizations alone has. The caller holds the lock.
func (d *Directory) onlyOne(name string, among iter.Seq[id.Organization]) *service {
	var found *service
	for org := range among {
		if s := d.byName[login{org, name}]; s != nil {
			if found != nil {
				return nil
			}
			found = s
		}
	}
	return found
}

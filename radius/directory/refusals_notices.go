package directory

import (
	"slices"

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
// of the router. Where the router is not known, a name that several organizations have does not count. It is for
// radius.Config.Notices, and asks nothing but the memory.
func (d *Directory) Notice(list []radius.Notice) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	lookups := 0
	for _, n := range list {
		if !refuses(n.Result) {
			continue
		}
		one := telemetry.Refusal{Code: n.Result.String(), FirstAt: n.First, At: n.Last}
		if n.NAS != nil {
			one.OrgID, one.DeviceID = n.NAS.Org, n.NAS.ID
		}
		left := int64(n.Count)
		for name, count := range n.Names {
			s := d.byName[login{one.OrgID, name}]
			if n.NAS == nil {
				if lookups++; lookups <= maxLookups {
					s = d.onlyOne(name)
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

// onlyOne is the subscription with a username that one organization alone has. The caller holds the lock.
func (d *Directory) onlyOne(name string) *service {
	var found *service
	for org := range d.organizations {
		if s := d.byName[login{org, name}]; s != nil {
			if found != nil {
				return nil
			}
			found = s
		}
	}
	return found
}

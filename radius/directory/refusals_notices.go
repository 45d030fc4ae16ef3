package directory

import (
	"net/netip"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
)

// refuses reports whether support staff should find a result with the router or the customer.
func refuses(r radius.Result) bool {
	return slices.Contains([]radius.Result{
		radius.UnknownNAS, radius.WrongSecret, radius.Unproven, radius.Malformed, radius.OverLimit,
		radius.SecretDoubtful,
	}, r)
}

// sender is a router that may have sent a packet; a zero device is one that is not known.
type sender struct {
	org    id.Organization
	device id.Device
}

// Notice counts packets that were dropped or are in doubt as refusals. It is for radius.Config.Notices, and asks
// nothing but the memory.
func (d *Directory) Notice(list []radius.Notice) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var claimants map[netip.Addr][]sender
	var strangers []sender // an unknown router may be anybody's
	if len(d.organizations) == 1 {
		for org := range d.organizations {
			strangers = []sender{{org: org}}
		}
	}
	for _, n := range list {
		switch {
		case !refuses(n.Result):
		case n.NAS != nil:
			d.noticed(n, []sender{{n.NAS.Org, n.NAS.ID}})
		case n.Result == radius.UnknownNAS:
			d.noticed(n, strangers)
		default:
			if claimants == nil {
				claimants = d.claimants()
			}
			d.noticed(n, claimants[n.Source])
		}
	}
}

// noticed counts packets of one kind: of the customer whose name a sign-in has, else of the router. Of several routers
// any may have sent them, so they count for each, and no claim of another hides what a router has lost. A name counts
// where one organization alone can be meant: what it finds must not depend on the names that another one has.
func (d *Directory) noticed(n radius.Notice, senders []sender) {
	one := telemetry.Refusal{Code: n.Result.String(), FirstAt: n.First, At: n.Last, Count: int64(n.Count)}
	if len(senders) > 0 && !slices.ContainsFunc(senders, func(s sender) bool { return s.org != senders[0].org }) {
		his := one
		his.OrgID = senders[0].org
		if len(senders) == 1 {
			his.DeviceID = senders[0].device
		}
		for name, count := range n.Names {
			s := d.named(his.OrgID, name)
			if s == nil {
				continue
			}
			his.SubscriberID, his.SubscriptionID, his.Count = s.owner, s.id, int64(count)
			d.cfg.Refusals.count(his)
			if len(senders) == 1 {
				one.Count -= his.Count
			}
		}
	}
	for _, s := range senders {
		if one.OrgID, one.DeviceID = s.org, s.device; one.Count > 0 && !s.device.IsZero() {
			d.cfg.Refusals.count(one)
		}
	}
}

// claimants are the routers that may be at an address which no router owns. The caller holds the lock.
func (d *Directory) claimants() map[netip.Addr][]sender {
	at := map[netip.Addr][]sender{}
	for _, r := range d.routers {
		for _, addr := range d.claimed(r.details) {
			at[addr] = append(at[addr], sender{r.org, r.id})
		}
	}
	return at
}

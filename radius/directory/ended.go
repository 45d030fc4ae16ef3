package directory

import (
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
)

// former is whose a subscription was that has ended.
type former struct {
	org       id.Organization
	owner     id.Subscriber
	forgotten bool // the person
}

// traces lead from what the devices of former customers still send to subscriptions that have ended, so that they are
// refused for what is true. They hold nothing else, because years of former customers add up.
type traces struct {
	byName map[login]id.Subscription
	byMAC  map[device]id.Subscription // of hotspot plans
}

// newTraces makes empty ones.
func newTraces() traces {
	return traces{byName: map[login]id.Subscription{}, byMAC: map[device]id.Subscription{}}
}

// keep notes the name and the devices of a subscription that ends. A later one takes them over.
func (t traces) keep(s *service) {
	if s.username != "" {
		t.byName[login{s.org, s.username}] = s.id
	}
	if s.byMAC != nil {
		for _, mac := range s.macs {
			t.byMAC[device{s.org, mac}] = s.id
		}
	}
}

// forget removes everything that leads to subscriptions of a kind.
func (t traces) forget(of func(id.Subscription) bool) {
	for name, subscription := range t.byName {
		if of(subscription) {
			delete(t.byName, name)
		}
	}
	for mac, subscription := range t.byMAC {
		if of(subscription) {
			delete(t.byMAC, mac)
		}
	}
}

// findEnded gives a credential that leads to a refusal, whatever is proven; nil for a name and a device that nobody
// had. The caller holds the lock.
func (d *Directory) findEnded(nas *radius.NAS, r *radius.Request) *radius.Credential {
	it, found := d.traces.byName[login{nas.Org, string(r.UserName)}]
	if !found && r.MACLogin {
		it, found = d.traces.byMAC[device{nas.Org, r.MAC}]
	}
	if !found {
		return nil
	}
	return &radius.Credential{Subject: &service{
		id: it, org: nas.Org, owner: d.former[it].owner, standing: entitlement.Ended, over: true,
	}}
}

// forget marks everything that a person had, and loses every trace of it.
func (d *Directory) forget(who id.Subscriber) {
	for subscription, was := range d.former {
		if was.owner == who {
			was.forgotten = true
			d.former[subscription] = was
		}
	}
	d.traces.forget(func(s id.Subscription) bool { return d.former[s].owner == who })
}

package directory

import (
	"slices"

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

// traces lead from names and devices that a subscription no longer has to this subscription, until another one has
// them: what still sends them is refused for what is true, and a session with them has an owner. They hold nothing
// else, because years of former customers add up.
type traces struct {
	byName map[login]id.Subscription
	byMAC  map[device]id.Subscription // of hotspot plans
	given  map[id.Subscription]*givenUp
}

// givenUp has what a subscription that has not ended has given up, the latest last. It bounds the traces of one whose
// login or devices are changed again and again.
type givenUp struct {
	names []string
	macs  []radius.MAC
}

// Bounds of what leads to one subscription: devices are as many as one can have.
const (
	maxFormerNames   = 4
	maxFormerDevices = 16
)

// newTraces makes empty ones.
func newTraces() traces {
	return traces{
		byName: map[login]id.Subscription{}, byMAC: map[device]id.Subscription{},
		given: map[id.Subscription]*givenUp{},
	}
}

// of gives what a subscription has given up.
func (t traces) of(s *service) *givenUp {
	g := t.given[s.id]
	if g == nil {
		g = &givenUp{}
		t.given[s.id] = g
	}
	return g
}

// name notes that a subscription gives up its name.
func (t traces) name(s *service) {
	g := t.of(s)
	t.byName[loginOf(s.org, s.username)] = s.id
	names, dropped := remember(g.names, s.username, maxFormerNames)
	g.names = names
	if key := loginOf(s.org, dropped); t.byName[key] == s.id {
		delete(t.byName, key)
	}
}

// mac notes that a subscription of a hotspot plan gives up a device.
func (t traces) mac(s *service, mac radius.MAC) {
	g := t.of(s)
	t.byMAC[device{s.org, mac}] = s.id
	macs, dropped := remember(g.macs, mac, maxFormerDevices)
	g.macs = macs
	if key := (device{s.org, dropped}); t.byMAC[key] == s.id {
		delete(t.byMAC, key)
	}
}

// remember makes a value the latest of a list, once, and gives the oldest one that is then too many; zero = none.
func remember[T comparable](list []T, latest T, most int) (out []T, dropped T) {
	out = append(slices.DeleteFunc(list, func(v T) bool { return v == latest }), latest)
	if len(out) > most {
		dropped = out[0]
		out = slices.Delete(out, 0, 1)
	}
	return out, dropped
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

// findFormer gives a credential that leads to a refusal, whatever is proven, of the subscription that had a name or a
// device last; nil when nobody had it. A hotspot tries each device in its range, so those of a subscription that goes
// on count for nobody. The caller holds the lock.
func (d *Directory) findFormer(nas *radius.NAS, r *radius.Request) *radius.Credential {
	it, found := d.formerlyNamed(nas.Org, string(r.UserName))
	if !found && r.MACLogin {
		it, found = d.traces.byMAC[device{nas.Org, r.MAC}]
	}
	if !found {
		return nil
	}
	had := &service{id: it, org: nas.Org, owner: d.former[it].owner, standing: entitlement.Ended, former: true}
	if s := d.services[it]; s != nil {
		if r.MACLogin {
			return nil
		}
		had.owner, had.standing = s.owner, s.standing
	}
	return &radius.Credential{Subject: had}
}

// refuseFormer refuses a sign-in by what a subscription no longer has. Its password is not compared.
func (d *Directory) refuseFormer(q radius.Question, s *service, reply *radius.Reply) {
	code := CodeUnknownUser
	if s.standing == entitlement.Ended {
		code = CodeEnded
	}
	d.refuse(q, s, code, reply)
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

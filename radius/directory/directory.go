// Package directory knows in memory who may sign in at which router, and what they get. It is filled from the log, so a
// sign-in needs neither PostgreSQL nor the event store (docs/rules/access-radius.md#answer-from-memory).
//
// Events fill it by Apply, in the order of the log. Passwords and secrets of routers are in the vault, so a Loader
// fetches them beside; what cannot be fetched at the moment leaves in memory what was known before.
package directory

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/vouchers"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
)

// Config has the parts of a directory. Zero fields have a usual value or are left out.
type Config struct {
	ClassKey []byte   // signs Class attributes
	Sessions Sessions // nil = no limit is reached
	Refusals *Refusals
	Vouchers vouchers.Codes // finds vouchers by what customers type
	// Guessing is told about a router where many wrong codes are tried, at most every ten minutes; nil = nobody. It
	// must not block.
	Guessing func(nas *radius.NAS)
	// Clock tells that vouchers are over for sure, and may be forgotten, and by its pace wrong guesses are forgiven.
	Clock clock.Clock
	// Development accepts the management address of a router as its source address too.
	Development bool
	// SetNAS is told all routers soon after a change; nil = nobody. It must not call the directory.
	SetNAS func([]*radius.NAS)
}

// Directory implements radius.Directory and runner.MemoryModel. Safe for concurrent use.
type Directory struct {
	cfg     Config
	secrets wanted

	mu            sync.RWMutex
	act           Act             // the event that is being applied, whoever caused it
	actor         id.Organization // whose event it is
	acts          *acts
	services      map[id.Subscription]*service // that have not ended
	former        map[id.Subscription]former
	traces        traces
	bySubscriber  map[id.Subscriber]*subscriber
	byName        map[login]*service
	byMAC         map[device][]*service    // of hotspot plans
	left          map[id.Organization]bool // not everything of them is known
	terms         map[version]*events.PlanTerms
	organizations map[id.Organization]*time.Location
	realmless     map[id.Organization]bool // names count without their realm too
	rezoned       map[id.Organization]mark // when the zone was changed
	routers       []*router                // in the order in which they were registered
	// routersChanged says that the server does not know the routers as they are now.
	routersChanged bool

	vouchers  *voucherBook // has a lock of its own, taken after mu
	passwords *trials      // likewise
	guests    guestBook    // likewise
	pace      clock.Clock  // by which tries are forgiven, and changes have their age
}

// device names a piece of equipment within an organization.
type device struct {
	org id.Organization
	mac radius.MAC
}

// New makes an empty directory.
func New(cfg Config) *Directory {
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Refusals == nil {
		cfg.Refusals = NewRefusals(cfg.Clock)
	}
	return &Directory{
		cfg: cfg, acts: newActs(), left: map[id.Organization]bool{}, secrets: newWanted(),
		services: map[id.Subscription]*service{}, former: map[id.Subscription]former{}, traces: newTraces(),
		bySubscriber: map[id.Subscriber]*subscriber{}, byName: map[login]*service{}, byMAC: map[device][]*service{},
		terms: map[version]*events.PlanTerms{}, organizations: map[id.Organization]*time.Location{},
		rezoned: map[id.Organization]mark{}, realmless: map[id.Organization]bool{},
		vouchers: newVoucherBook(cfg.Clock), passwords: newTrials(), pace: clock.Pace(cfg.Clock),
		guests: guestBook{of: map[device]*guest{}, restarts: map[id.Device][]time.Time{}},
	}
}

// Find implements radius.Directory.
func (d *Directory) Find(nas *radius.NAS, r *radius.Request) *radius.Credential {
	d.mu.RLock()
	defer d.mu.RUnlock()
	s, c := d.findService(nas, r)
	switch {
	case s == nil:
		return cmp.Or(d.findGuest(nas, r), d.findVoucher(nas, r), d.findFormer(nas, r))
	case r.MACLogin && d.heldMore(device{nas.Org, r.MAC}, s, r.At):
		return cmp.Or(d.findVoucher(nas, r), c)
	}
	return c
}

// findService finds a subscription by its device or its name; nil = it is neither's. The caller holds the lock.
func (d *Directory) findService(nas *radius.NAS, r *radius.Request) (*service, *radius.Credential) {
	if r.MACLogin {
		if s := d.ofMAC(device{nas.Org, r.MAC}, r.At); s != nil {
			return s, s.byMAC
		}
	}
	if s := d.dialledAs(nas.Org, r.UserName); s != nil {
		return s, s.credential
	}
	return nil, nil
}

// Sessions keeps the limit of sessions of a subscription. It answers from memory, because a socket waits for it. Safe
// for concurrent use. telemetry.Live implements it.
type Sessions interface {
	// Admit reports false when the sign-in is refused; else older sessions beyond the limit have to end, and where the
	// limit refuses the sign-in counts from then on (docs/rules/access-radius.md#session-limit).
	Admit(telemetry.SignIn) bool
	// Online reports whether a session of a subscription is known. Without one Admit need not be called where the limit
	// does not refuse.
	Online(subscription id.Subscription) bool
	// Has reports whether a device, named by its MAC, is online with a subscription.
	Has(subscription id.Subscription, mac string) bool
}

// Decide implements radius.Directory.
func (d *Directory) Decide(q radius.Question, reply *radius.Reply) {
	if d.Incomplete(q.NAS.Org) {
		reply.Silence()
		return
	}
	if d.decideVoucher(q, reply) {
		return
	}
	s := subject(q.Credential)
	if s != nil && s.former && q.Outcome != radius.BadRequest {
		d.refuseFormer(q, s, reply)
		return
	}
	if s != nil && d.tried(q, s) {
		d.refuse(q, s, CodeTooManyCodes, reply)
		return
	}
	if q.Outcome != radius.Verified || s == nil {
		d.refuse(q, s, proofRefusals[q.Outcome], reply)
		return
	}
	at := q.Request.At
	v := d.verdictNow(s, at)
	switch {
	case v.access == entitlement.None:
		d.refuse(q, s, v.refusal, reply)
		return
	case len(v.macs) > 0 && !slices.Contains(v.macs, q.Request.MAC):
		d.refuse(q, s, CodeWrongMAC, reply)
		return
	case !d.hasRoom(q, s, v):
		d.refuse(q, s, CodeSessionLimit, reply)
		return
	}
	d.dialled(q, s.owner, s.id)
	d.welcome(q, s, v)
	reply.Accept(v.attributes)
	if !v.ends.IsZero() {
		reply.Add(rfc2865.SessionTimeout_Type, secondsUntil(at, v.ends))
	}
	reply.EncryptionKeys()
}

// verdictNow is the verdict about a service at an instant.
func (d *Directory) verdictNow(s *service, at time.Time) *verdict {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.verdict(s, at)
}

// hasRoom reports whether the limit of sessions lets a sign-in in, which counts from then on. A device that comes back
// by itself puts no other one off, else two would do so in turn for ever. For customers who are not online yet, the
// usual ones after a router's restart, it allocates nothing.
func (d *Directory) hasRoom(q radius.Question, s *service, v *verdict) bool {
	if d.cfg.Sessions == nil || !v.refuses && !d.cfg.Sessions.Online(s.id) {
		return true
	}
	return d.cfg.Sessions.Admit(telemetry.SignIn{
		Subscription: s.id, Device: q.NAS.ID, SessionKey: string(q.Request.SessionID),
		Calling: string(q.Request.CallingStation), MAC: q.Request.MAC.String(), At: q.Request.At, Limit: v.limit,
		Refuse: v.refuses, Yield: guestOf(q.Credential) != nil,
	})
}

// Leave implements runner.PartialModel. What cannot be read may be a payment as well as a block, so sign-ins of the
// organization get no answer from then on, and its sessions are left alone.
func (d *Directory) Leave(org id.Organization) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left[org] = true
}

// Incomplete reports whether not everything about an organization is known.
func (d *Directory) Incomplete(org id.Organization) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.left[org]
}

// SessionLimit is how many sessions a subscription or a voucher may have at the same time; 0 = it is not known.
func (d *Directory) SessionLimit(subscription id.Subscription, at time.Time) int {
	if _, batch := d.vouchers.look(id.As[id.Voucher](subscription)); batch != nil {
		if d.Incomplete(batch.org) {
			return 0
		}
		return voucherLimit
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	s := d.services[subscription]
	if s == nil || d.left[s.org] {
		return 0
	}
	return d.verdict(s, at).limit
}

// RefusesMore reports whether at the limit of a subscription a new session is refused, and not the oldest one ended.
func (d *Directory) RefusesMore(subscription id.Subscription, at time.Time) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	s := d.services[subscription]
	return s != nil && d.verdict(s, at).refuses
}

// Holder names the subscription of a session, and what it was granted.
type Holder struct {
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription
	Grant          Grant // that the Class tells, else that a sign-in gives at present
	Told           bool  // by the Class
	Forgotten      bool  // the person: nothing of the session may be kept
	// The addresses of its own that the sign-in gave, as far as they are still those of the subscription.
	IP            netip.Addr
	Link, Network netip.Prefix
}

// Holder finds the subscription of a session, by the Class of its accept and else by its username, among those of the
// organization. A subscription that has ended is found by its Class alone. It is false when there is none.
func (d *Directory) Holder(org id.Organization, class []byte, username string, at time.Time) (Holder, bool) {
	if h, ok := d.voucherHolder(org, class); ok {
		return h, true
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	s := d.named(org, username)
	subscription, granted, ours := ReadClass(d.cfg.ClassKey, class)
	if ours {
		if was, ended := d.former[subscription]; ended && was.org == org {
			return Holder{
				SubscriberID: was.owner, SubscriptionID: subscription, Grant: granted, Told: true,
				Forgotten: was.forgotten,
			}, true
		}
		known := d.services[subscription]
		if ours = known != nil && known.org == org; ours {
			s = known
		}
	}
	switch {
	case s == nil:
		return Holder{}, false
	case ours:
		return s.holder(granted, true), true
	}
	return s.holder(d.verdict(s, at).grant, false), true
}

// holder is the holder of a session that was given a grant. A sign-in from before the addresses were assigned gave
// others: its grant has another digest.
func (s *service) holder(g Grant, told bool) Holder {
	h := Holder{SubscriberID: s.owner, SubscriptionID: s.id, Grant: g, Told: told}
	walled := g.Access == entitlement.WalledGarden || g.Access == entitlement.None
	if walled || told && g.Rest != s.rest(g.Access, s.passwordRef) {
		return h
	}
	if h.IP = s.staticIP; s.staticIPv6.IsValid() {
		if s.staticIPv6.Bits() == linkBits {
			h.Link = s.staticIPv6
		} else {
			h.Network = s.staticIPv6
		}
	}
	return h
}

// Zone is the present zone of an organization; UTC for one that is not known.
func (d *Directory) Zone(org id.Organization) *time.Location {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.zone(org)
}

// zone is Zone for a caller who holds the lock.
func (d *Directory) zone(org id.Organization) *time.Location {
	return cmp.Or(d.organizations[org], time.UTC)
}

// subject is the subscription of a credential, nil without one.
func subject(c *radius.Credential) *service {
	if c == nil {
		return nil
	}
	if g := guestOf(c); g != nil {
		return g.service
	}
	s, _ := c.Subject.(*service)
	return s
}

// refuse rejects with the text of a code, and counts it.
func (d *Directory) refuse(q radius.Question, s *service, code Code, reply *radius.Reply) {
	reply.Reject(code.Message())
	r := telemetry.Refusal{
		OrgID: q.NAS.Org, DeviceID: q.NAS.ID, Code: string(code), FirstAt: q.Request.At, At: q.Request.At, Count: 1,
	}
	if s != nil {
		r.SubscriberID, r.SubscriptionID = s.owner, s.id
	}
	d.cfg.Refusals.tried(r, q.Request)
}

// secondsUntil is the time between two instants as routers count it: at least one second, rounded up.
func secondsUntil(from, to time.Time) uint32 {
	seconds := (to.Sub(from) + time.Second - 1) / time.Second
	return uint32(min(max(seconds, 1), 1<<31)) //nolint:gosec // within its bounds
}

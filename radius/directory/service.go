package directory

import (
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
)

// service is one subscription. The directory's lock guards it, except where another one is named.
type service struct {
	id          id.Subscription
	org         id.Organization
	owner       id.Subscriber
	subscriber  *subscriber
	username    string
	passwordRef id.Secret
	proven      id.Secret         // of the password in credential, as far as the vault has given it
	renewed     mark              // when another password replaced one; zero = never
	terms       *events.PlanTerms // shared by all subscriptions of a version of the plan
	standing    entitlement.Standing
	createdAt   time.Time
	since       time.Time
	startsAt    time.Time
	paidUntil   time.Time
	touched     mark // when the newest event about it, or about a block of its customer, was recorded
	dunning     *entitlement.Dunning
	used        *entitlement.CapUse // nil = the cap is not reached
	macs        []radius.MAC
	parted      mark // when a device was taken away last that could sign in by its MAC; zero = never
	staticIP    netip.Addr
	staticIPv6  netip.Prefix
	routes      []netip.Prefix     // networks behind the customer
	credential  *radius.Credential // without a password until the vault has given it
	byMAC       *radius.Credential
	former      bool // made for one sign-in by what the subscription no longer has: only ids and standing are there

	guests  []radius.MAC              // the latest last; the lock of guestBook guards them
	own     atomic.Pointer[[]station] // that have proven a password of it, the latest last; nil = none
	decided atomic.Pointer[verdict]   // nil after each change
}

// subscriber has what all subscriptions of a customer share.
type subscriber struct {
	block    *entitlement.Block
	services []*service
}

// version names one version of a plan's terms.
type version struct {
	plan    id.Plan
	version int
}

// verdict is the answer to sign-ins between two instants. It does not change after it was made.
type verdict struct {
	from, to   time.Time // [from, to); zero to = for ever
	ends       time.Time // until which a session may last; zero = no end
	access     entitlement.Access
	code       entitlement.Code
	rateLimit  string // the value of Mikrotik-Rate-Limit; "" = no limit
	grant      Grant
	refusal    Code
	attributes radius.Attributes
	macs       []radius.MAC
	limit      int
	refuses    bool // at the limit the new session is refused, and not the old one ended
}

// state is the input of the decision about one subscription alone.
func (d *Directory) state(s *service) entitlement.State {
	state := entitlement.State{Subscriptions: []entitlement.Subscription{{
		ID: s.id, Standing: s.standing, Mode: s.terms.Mode, CreatedAt: s.createdAt, Since: s.since,
		StartsAt: s.startsAt, PaidUntil: s.paidUntil, Dunning: s.dunning, Used: s.used,
		Rates: s.terms.Rates, Terms: s.terms.Access, Zone: d.organizations[s.org],
	}}}
	if s.subscriber != nil {
		state.Block = s.subscriber.block
	}
	return state
}

// verdict gives the answer at an instant, from what was prepared when nothing has changed since. The caller holds the
// lock, for reading at least.
func (d *Directory) verdict(s *service, at time.Time) *verdict {
	v := s.decided.Load()
	if v != nil && !at.Before(v.from) && (v.to.IsZero() || at.Before(v.to)) {
		return v
	}
	state := d.state(s)
	given := entitlement.Of(state, at).Services[0]
	terms := s.terms.Access.WithDefaults()
	to, ends := entitlement.NextChange(state, at), entitlement.SessionEnd(state.Subscriptions[0], at)
	if to.IsZero() || !ends.IsZero() && ends.Before(to) {
		to = ends // a step of dunning that is late does not end sessions again and again
	}
	v = &verdict{
		from: at, to: to, ends: ends,
		access: given.Access, code: given.Decided.Code, rateLimit: rateLimit(given.Rate), macs: s.macs,
		limit: terms.SessionLimit, refuses: terms.OnLimit == events.RefuseSession,
	}
	if v.access == entitlement.None {
		v.refusal = refusalOf(v.code)
	} else {
		v.grant = s.grant(given, v.rateLimit)
		v.attributes = d.attributes(s, v.access, v.rateLimit, v.grant)
	}
	s.decided.Store(v)
	return v
}

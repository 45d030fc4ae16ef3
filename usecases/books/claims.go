package bookscases

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// claims are the unique values of an organization, and the aggregates that use them.
type claims struct {
	org    id.Organization
	part   Part // owners are those of the part; reserved values are all
	key    func(kind, value string) uuid.UUID
	held   map[uuid.UUID]claim
	owners map[string]owners // by category
}

// claim is a unique value that is reserved.
type claim struct {
	kind     string
	category string // of the owner's stream
	owner    id.Any
	org      id.Organization // of the command that reserved it; zero = the platform
	since    time.Time
}

// owners are the aggregates of one category that use unique values.
type owners interface {
	// takes reports whether an event is of this category.
	takes(e events.Event) bool
	// take enters an event of the category.
	take(e events.Envelope)
	// each calls do for every aggregate of the organization with the values that it uses now. erased reports that a
	// text of the aggregate is erased, so that its value cannot be computed any more.
	each(do func(owner id.Any, uses []commands.Claim, erased bool))
	// find reports what is known about an aggregate.
	find(owner id.Any) (known, ours bool)
}

// kind holds the states of one category. Aggregates of other organizations are only remembered by id.
type kind[S any, C commands.Command, E events.Event] struct {
	def     aggregates.Definition[S, C, E]
	org     id.Organization
	erased  func(S) bool // nil = no value of this category is personal
	moves   bool         // the owner of an aggregate of this category can change
	states  map[id.Any]S
	foreign map[id.Any]bool
}

// takes implements owners.
func (k *kind[S, C, E]) takes(e events.Event) bool { _, ok := e.(E); return ok }

// take implements owners.
func (k *kind[S, C, E]) take(e events.Envelope) {
	v, ok := e.Event.(E)
	of := e.Meta.AggregateID
	if !ok || k.foreign[of] {
		return
	}
	state := k.def.Evolve(k.states[of], v)
	if owner := k.def.Owner(state); !k.moves && !owner.IsZero() && owner != k.org {
		delete(k.states, of)
		k.foreign[of] = true
		return
	}
	k.states[of] = state
}

// each implements owners.
func (k *kind[S, C, E]) each(do func(owner id.Any, uses []commands.Claim, erased bool)) {
	for of, state := range k.states {
		if k.def.Owner(state) == k.org {
			do(of, k.def.Claims(state), k.erased != nil && k.erased(state))
		}
	}
}

// find implements owners.
func (k *kind[S, C, E]) find(owner id.Any) (known, ours bool) {
	state, known := k.states[owner]
	return known || k.foreign[owner], known && k.def.Owner(state) == k.org
}

// kindOf makes the owners of one category.
func kindOf[S any, C commands.Command, E events.Event](
	org id.Organization, def aggregates.Definition[S, C, E], erased func(S) bool,
) *kind[S, C, E] {
	return &kind[S, C, E]{def: def, org: org, erased: erased, states: map[id.Any]S{}, foreign: map[id.Any]bool{}}
}

// categories lists every category that uses unique values; a test compares it with all definitions of the program.
func categories(org id.Organization) map[string]owners {
	users := kindOf(org, identity.Users(), func(s identity.User) bool { return s.Email.Erased() })
	users.moves = true
	subscriptions := kindOf(org, subscribers.Subscriptions(),
		func(s subscribers.Subscription) bool { return s.Username.Erased() })
	return map[string]owners{
		identity.Users().Category:            users,
		identity.Organizations().Category:    kindOf(org, identity.Organizations(), nil),
		network.Devices().Category:           kindOf(org, network.Devices(), nil),
		network.AddressPlans().Category:      kindOf(org, network.AddressPlans(), nil),
		subscribers.Subscribers().Category:   kindOf(org, subscribers.Subscribers(), nil),
		subscribers.Plans().Category:         kindOf(org, subscribers.Plans(), nil),
		subscribers.Subscriptions().Category: subscriptions,
		payments.Gateways().Category:         kindOf(org, payments.Gateways(), nil),
	}
}

// newClaims makes the unique values of an organization without any event.
func newClaims(org id.Organization, part Part, key func(kind, value string) uuid.UUID) claims {
	return claims{org: org, part: part, key: key, held: map[uuid.UUID]claim{}, owners: categories(org)}
}

// ownsClaims reports whether an event is of a category that uses unique values.
func ownsClaims(e events.Event) bool {
	for _, o := range categories(id.Organization{}) {
		if o.takes(e) {
			return true
		}
	}
	return false
}

// take enters an event of a unique value or of an aggregate that uses some.
func (c *claims) take(e events.Envelope) {
	key := e.Meta.AggregateID.UUID()
	switch v := e.Event.(type) {
	case events.ClaimTaken:
		c.held[key] = claim{
			kind: v.Kind, category: v.OwnerCategory, owner: v.Owner, org: e.Meta.OrgID, since: e.Meta.At,
		}
		return
	case events.ClaimReleased:
		delete(c.held, key)
		return
	}
	if o := c.owners[e.Category()]; o != nil && c.part.has(e.Meta.AggregateID) {
		o.take(e)
	}
}

// check compares the reserved values with those in use.
func (c *claims) check(f *findings) {
	used := map[uuid.UUID]bool{}
	erased := map[id.Any]bool{}
	for category, list := range c.owners {
		list.each(func(owner id.Any, uses []commands.Claim, gone bool) {
			erased[owner] = gone
			for _, u := range uses {
				key := c.key(u.Kind, u.Value)
				used[key] = true
				on := []About{{category, owner}, about("claim", key)}
				switch h, held := c.held[key]; {
				case !held:
					f.add(ClaimMissing, u.Kind, on...)
				case h.category != category || h.owner != owner:
					f.add(ClaimOfSomebodyElse, u.Kind, append(on, About{h.category, h.owner})...)
				}
			}
		})
	}
	for key, h := range c.held {
		list := c.owners[h.category]
		if list == nil || used[key] || !c.part.has(h.owner) || erased[h.owner] || !f.old(h.since) {
			continue
		}
		known, ours := list.find(h.owner)
		if ours || !known && h.org == c.org {
			f.add(ClaimWithoutOwner, h.kind, About{h.category, h.owner}, about("claim", key))
		}
	}
}

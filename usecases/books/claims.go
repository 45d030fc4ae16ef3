package bookscases

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/aggregates/outages"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/aggregates/webhooks"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// claims are the unique values of an organization, and the aggregates that use them.
type claims struct {
	org    id.Organization
	part   Part // owners are those of the part; reserved values are all
	key    func(kind, value string) uuid.UUID
	values *values           // shared with the other books of the group
	owners map[string]owners // by category; the users are shared
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
	// take enters an event of the category. It fails when a closed stream passed on a state that cannot be read.
	take(e events.Envelope) error
	// each calls do for every aggregate of an organization with the values that it uses now. erased reports that a text
	// of the aggregate is erased, so that its value cannot be computed any more.
	each(org id.Organization, do func(owner id.Any, uses []commands.Claim, erased bool))
	// find reports what is known about an aggregate.
	find(org id.Organization, owner id.Any) (known, ours bool)
}

// kind holds the states of one category.
type kind[S any, C commands.Command, E events.Event] struct {
	folding[S, C, E]
	erased func(S) bool // nil = no value of this category is personal
	states map[id.Any]S
}

// takes implements owners.
func (k *kind[S, C, E]) takes(e events.Event) bool { _, ok := e.(E); return ok }

// take implements owners.
func (k *kind[S, C, E]) take(e events.Envelope) (err error) {
	if v, ok := e.Event.(E); ok {
		of := e.Meta.AggregateID
		k.states[of], err = k.next(k.states[of], e, v)
	}
	return err
}

// each implements owners.
func (k *kind[S, C, E]) each(org id.Organization, do func(owner id.Any, uses []commands.Claim, erased bool)) {
	for of, state := range k.states {
		if k.Owner(state) == org {
			do(of, k.Claims(state), k.erased != nil && k.erased(state))
		}
	}
}

// find implements owners.
func (k *kind[S, C, E]) find(org id.Organization, owner id.Any) (known, ours bool) {
	state, known := k.states[owner]
	return known, known && k.Owner(state) == org
}

// kindOf makes the owners of one category.
func kindOf[S any, C commands.Command, E events.Event](
	def aggregates.Definition[S, C, E], erased func(S) bool,
) *kind[S, C, E] {
	return &kind[S, C, E]{folding: foldingOf(def), erased: erased, states: map[id.Any]S{}}
}

// users makes the category whose aggregates can change their organization.
func users() owners {
	return kindOf(identity.Users(), func(s identity.User) bool { return s.Email.Erased() })
}

// categories makes every other category that uses unique values; a test compares them with all definitions of the
// program.
func categories() map[string]owners {
	subscriptions := kindOf(subscribers.Subscriptions(),
		func(s subscribers.Subscription) bool {
			return s.Username.Erased() || s.Addresses.StaticIP.Erased() || s.Addresses.StaticIPv6Prefix.Erased()
		})
	return map[string]owners{
		identity.Organizations().Category:    kindOf(identity.Organizations(), nil),
		cpe.Provisions().Category:            kindOf(cpe.Provisions(), nil),
		cpe.FirmwareFiles().Category:         kindOf(cpe.FirmwareFiles(), nil),
		network.Devices().Category:           kindOf(network.Devices(), nil),
		network.AddressPlans().Category:      kindOf(network.AddressPlans(), nil),
		subscribers.Subscribers().Category:   kindOf(subscribers.Subscribers(), nil),
		subscribers.Plans().Category:         kindOf(subscribers.Plans(), nil),
		subscribers.Subscriptions().Category: subscriptions,
		payments.Gateways().Category:         kindOf(payments.Gateways(), nil),
		webhooks.Endpoints().Category:        kindOf(webhooks.Endpoints(), nil),
		outages.Outages().Category:           kindOf(outages.Outages(), nil),
	}
}

// newClaims makes the unique values of an organization without any event.
func newClaims(org id.Organization, part Part, key func(kind, value string) uuid.UUID, with *shared) claims {
	c := claims{org: org, part: part, key: key, values: &with.values, owners: categories()}
	c.owners[commands.UserCategory] = with.users
	return c
}

// ownsClaims reports whether an event is of a category that uses unique values and whose aggregates never change their
// organization.
func ownsClaims(e events.Event) bool {
	for _, o := range categories() {
		if o.takes(e) {
			return true
		}
	}
	return false
}

// take enters an event of an aggregate of the organization that uses unique values. It fails when a closed stream
// passed on a state that cannot be read.
func (c *claims) take(e events.Envelope) error {
	if o := c.owners[e.Category()]; o != nil && c.part.has(e.Meta.AggregateID) {
		return o.take(e)
	}
	return nil
}

// each calls do for every aggregate of the part that uses unique values.
func (c *claims) each(do func(owner About, uses []commands.Claim, erased bool)) {
	for category, list := range c.owners {
		list.each(c.org, func(owner id.Any, uses []commands.Claim, erased bool) {
			if c.part.has(owner) { // the users of all parts are here
				do(About{category, owner}, uses, erased)
			}
		})
	}
}

// missing adds the keys of the values that are in use and not reserved as far as is known.
func (c *claims) missing(to map[uuid.UUID]bool) {
	c.each(func(_ About, uses []commands.Claim, _ bool) {
		for _, u := range uses {
			if key := c.key(u.Kind, u.Value); c.values.held[key].category == "" {
				to[key] = true
			}
		}
	})
}

// check compares the reserved values with those in use.
func (c *claims) check(f *findings) {
	used := map[uuid.UUID]bool{}
	erased := map[id.Any]bool{}
	c.each(func(owner About, uses []commands.Claim, gone bool) {
		if gone {
			erased[owner.ID] = true
		}
		for _, u := range uses {
			key := c.key(u.Kind, u.Value)
			used[key] = true
			on := []About{owner, about("claim", key)}
			switch h, held := c.values.held[key]; {
			case !held:
				f.add(ClaimMissing, u.Kind, on...)
			case h.category != owner.Kind || h.owner != owner.ID:
				f.add(ClaimOfSomebodyElse, u.Kind, append(on, About{h.category, h.owner})...)
			}
		}
	})
	for key, h := range c.values.held {
		list := c.owners[h.category]
		if list == nil || used[key] || !c.part.has(h.owner) || erased[h.owner] || !f.old(h.since) {
			continue
		}
		known, ours := list.find(c.org, h.owner)
		if ours || !known && h.org == c.org {
			f.add(ClaimWithoutOwner, h.kind, About{h.category, h.owner}, about("claim", key))
		}
	}
}

package bookscases

import (
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// values are the unique values that are reserved for the organizations of a group, and those of all users. Values of
// other organizations are not kept, because there are as many as customers of the platform.
type values struct {
	orgs   map[id.Organization]bool
	held   map[uuid.UUID]claim
	wanted map[uuid.UUID]bool // values to be looked up, whoever has reserved them
}

// take enters an event of a unique value. One that another organization takes from one of the group is kept, to name
// who has it.
func (v *values) take(e events.Envelope) {
	key := e.Meta.AggregateID.UUID()
	taken, ok := e.Event.(events.ClaimTaken)
	if !ok {
		delete(v.held, key)
		return
	}
	_, known := v.held[key]
	if known || v.orgs[e.Meta.OrgID] || taken.OwnerCategory == commands.UserCategory {
		v.hold(key, taken, e.Meta)
	}
}

// lookUp enters an event of a wanted value.
func (v *values) lookUp(e events.Envelope) {
	key := e.Meta.AggregateID.UUID()
	if !v.wanted[key] {
		return
	}
	if taken, ok := e.Event.(events.ClaimTaken); ok {
		v.hold(key, taken, e.Meta)
	} else {
		delete(v.held, key)
	}
}

// hold notes who has reserved a value.
func (v *values) hold(key uuid.UUID, e events.ClaimTaken, meta events.Metadata) {
	v.held[key] = claim{
		kind: e.Kind, category: e.OwnerCategory, owner: e.Owner, org: meta.OrgID, since: meta.At,
	}
}

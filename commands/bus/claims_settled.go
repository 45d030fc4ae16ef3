package bus

import (
	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// settledMost is how many settled takings are known, the newest: those of many seconds.
const settledMost = 1 << 15

// newSettled knows of no settled taking.
func newSettled() *lru.Cache[id.Event, struct{}] {
	cache, err := lru.New[id.Event, struct{}](settledMost)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return cache
}

// takes notes the event by which an execution has taken a claim.
func (x *execution) takes(c heldClaim, by id.Event) {
	if x.takings == nil {
		x.takings = map[uuid.UUID]id.Event{}
	}
	x.takings[c.key] = by
}

// settle notes that the claims which an execution took, and which the recorded state has, are used. One that it took to
// drop it is not.
func (b *Bus) settle(x *execution, has []heldClaim) {
	for _, c := range without(x.taken, without(x.taken, has)) {
		if taking, ok := x.takings[c.key]; ok {
			b.settled.Add(taking, struct{}{})
		}
	}
}

// Settled reports that an event took a claim, and that the owner's event which uses the claim is in the log. Whoever
// frees unused values need not look at this one: the owner takes it once more before it gives it up. It is known for
// some seconds, and by this program alone; false says nothing.
func (b *Bus) Settled(e events.Envelope) bool {
	_, taken := e.Event.(events.ClaimTaken)
	return taken && b.settled.Contains(e.ID)
}

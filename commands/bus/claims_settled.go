package bus

import (
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// settledMost is how many settled claims are known, the newest: those of many seconds.
const settledMost = 1 << 15

// settledClaim is a claim as a command took it, which led to a state of its owner that has it.
type settledClaim struct {
	claim   id.Any
	command id.Command
}

// newSettled knows of no settled claim.
func newSettled() *lru.Cache[settledClaim, struct{}] {
	cache, err := lru.New[settledClaim, struct{}](settledMost)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return cache
}

// settle notes that the claims which an execution took, and which the recorded state has, are used. One that it took to
// drop it is not.
func (b *Bus) settle(x *execution, has []heldClaim) {
	for _, c := range without(x.taken, without(x.taken, has)) {
		b.settled.Add(settledClaim{id.Any(c.key), x.meta.CommandID}, struct{}{})
	}
}

// Settled reports that an event took a claim for a command, and that the owner's event which uses the claim is in the
// log. Whoever frees unused values need not look at this one: the owner takes it once more before it gives it up. It is
// known for some seconds, and by this program alone; false says nothing.
func (b *Bus) Settled(e events.Envelope) bool {
	if _, taken := e.Event.(events.ClaimTaken); !taken {
		return false
	}
	return b.settled.Contains(settledClaim{e.Meta.AggregateID, e.Meta.CommandID})
}

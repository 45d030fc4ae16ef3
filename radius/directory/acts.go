package directory

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// actsMost is how many acts are remembered of an organization: those of the last minutes, until the jobs that follow
// have run. actingMost is of how many organizations, those that acted last: a few hundred bytes for each act.
const (
	actsMost   = 1024
	actingMost = 1024
)

// Act is an event by which somebody changed what a subscriber may have.
type Act struct {
	EventID       id.Event
	Position      uint64
	At            time.Time
	Actor         events.Actor // who answers for it; never a program
	CorrelationID string
}

// acts are the newest acts of each organization, so that much work of one pushes out no other's. Safe for concurrent
// use.
type acts struct {
	mu sync.Mutex
	of *simplelru.LRU[id.Organization, *simplelru.LRU[id.Subscriber, Act]]
}

// newActs remembers nothing yet.
func newActs() *acts {
	// A list fails for a size below 1 only, here and below.
	of, _ := simplelru.NewLRU[id.Organization, *simplelru.LRU[id.Subscriber, Act]](actingMost, nil)
	return &acts{of: of}
}

// add remembers an act of an organization about a subscriber.
func (a *acts) add(org id.Organization, who id.Subscriber, act Act) {
	a.mu.Lock()
	defer a.mu.Unlock()
	own, known := a.of.Get(org)
	if !known {
		own, _ = simplelru.NewLRU[id.Subscriber, Act](actsMost, nil)
		a.of.Add(org, own)
	}
	own.Add(who, act)
}

// last is the newest act of an organization about a subscriber.
func (a *acts) last(org id.Organization, who id.Subscriber) (Act, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if own, known := a.of.Get(org); known {
		return own.Get(who)
	}
	return Act{}, false
}

// acted remembers that the event which is being applied changed what a subscriber, or a voucher, may have.
func (d *Directory) acted(who id.Subscriber) {
	if d.act.Actor.Answers() {
		d.acts.add(d.actor, who, d.act)
	}
}

// LastAct is the newest act in an organization about a subscriber; false when none is remembered. It is known as soon
// as its effect is.
func (d *Directory) LastAct(org id.Organization, who id.Subscriber) (Act, bool) {
	return d.acts.last(org, who)
}

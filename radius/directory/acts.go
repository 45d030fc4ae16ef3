package directory

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// actsMost is how many acts are remembered: those of the last minutes, until the jobs that follow have run.
const actsMost = 1024

// Act is an event by which somebody changed what a subscriber may have.
type Act struct {
	EventID       id.Event
	Position      uint64
	At            time.Time
	Actor         events.Actor // who answers for it; never a program
	CorrelationID string
}

// acted remembers that the event which is being applied changed what a subscriber, or a voucher, may have.
func (d *Directory) acted(who id.Subscriber) {
	if d.act.Actor.Answers() {
		d.acts.Add(who, d.act)
	}
}

// LastAct is the newest act about a subscriber; false when none is remembered. It is known as soon as its effect is.
func (d *Directory) LastAct(who id.Subscriber) (Act, bool) { return d.acts.Get(who) }

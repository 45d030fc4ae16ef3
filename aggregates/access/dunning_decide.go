package access

import (
	"cmp"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// maxHold bounds how far ahead a hold may end: about five years, so that a typing error does not spare a customer for
// ever.
const maxHold = 5 * 366 * 24 * time.Hour

// decideDunning only dispatches.
func decideDunning(s Dunning, c commands.DunningCommand, now time.Time) ([]events.DunningEvent, error) {
	recorded := s
	s = s.seen(now)
	switch c := c.(type) {
	case commands.StopClock:
		return decideStopClock(recorded, c, now), nil
	case commands.ReviewDunning:
		return decideReview(s, c, now)
	case commands.AskDunningReview:
		return []events.DunningEvent{events.DunningReviewAsked{DunningSubject: c.Subject, At: now}}, nil
	case commands.PlaceHold:
		return decidePlaceHold(s, c, now)
	case commands.LiftHold:
		if !s.Held(now) {
			return nil, nil
		}
		return []events.DunningEvent{events.HoldLifted{DunningSubject: c.Subject, From: s.HoldFrom, At: now}}, nil
	case commands.StartClock:
		return decideStartClock(s, c, now), nil
	}
	return nil, nil
}

// state is the present state; none for a stream that does not exist.
func (s Dunning) state() events.DunningState { return cmp.Or(s.State, events.DunningNone) }

// decidePlaceHold places a hold, or changes the end of the present one. The same end again gives no event.
func decidePlaceHold(s Dunning, c commands.PlaceHold, now time.Time) ([]events.DunningEvent, error) {
	var f failure.Faults
	f.Check(c.Until.After(now), "until", "must be in the future")
	f.Check(c.Until.Before(now.Add(maxHold)), "until", "must be at most five years ahead")
	if err := f.Err(); err != nil {
		return nil, err
	}
	from := now
	if s.Held(now) {
		if s.HoldUntil.Equal(c.Until) {
			return nil, nil
		}
		from = s.HoldFrom
	}
	return []events.DunningEvent{events.HoldPlaced{
		DunningSubject: c.Subject, From: from, Until: c.Until.UTC(), Reason: personal.Of(c.Reason), At: now,
	}}, nil
}

// decideStopClock begins one cause. A cause that stops the clock already keeps its beginning, unless that lies in the
// future. What lies there is from when a clock was ahead, here as in decideStartClock, and is of now: refused, it would
// be asked for again in vain.
func decideStopClock(s Dunning, c commands.StopClock, now time.Time) []events.DunningEvent {
	from, stopped := s.Stopped[c.Cause]
	placed := stopped && !from.After(now) // maybe dated back by what came after it, of which readers have no event
	if placed && !c.Misplaced || c.Misplaced && !stopped {
		return nil
	}
	if !placed {
		from = earlier(c.From.UTC(), now)
	}
	return []events.DunningEvent{events.DunningClockStopped{
		DunningSubject: c.Subject, Cause: c.Cause, From: from, At: now,
	}}
}

// decideStartClock ends one cause, not before it began.
func decideStartClock(s Dunning, c commands.StartClock, now time.Time) []events.DunningEvent {
	from, stopped := s.Stopped[c.Cause]
	if !stopped {
		return nil
	}
	until := earlier(c.Until.UTC(), now)
	if until.Before(from) {
		until = from
	}
	return []events.DunningEvent{events.DunningClockStarted{
		DunningSubject: c.Subject, Cause: c.Cause, From: from, Until: until, At: now,
	}}
}

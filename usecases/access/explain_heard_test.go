package accesscases_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// listener is a network that shows nobody online and has heard of some.
type listener struct {
	answers
	last []telemetry.LastSign
	err  error
}

// LastSigns implements accesscases.Network.
func (l *listener) LastSigns(
	context.Context, id.Organization, id.Subscriber, []id.Subscription,
) ([]telemetry.LastSign, error) {
	return l.last, l.err
}

// signs has all that an explanation tells of when a service was heard of. The zero value is nothing.
type signs struct {
	heard, notHeard time.Time
	never           bool
	away            id.Device
	outage          time.Time
}

// signsOf takes it from an explanation.
func signsOf(s accesscases.Service) (out signs) {
	if s.Heard != nil {
		out.heard = s.Heard.At
	}
	if s.NotHeard != nil {
		out.notHeard, out.never = s.NotHeard.Since, s.NotHeard.Never
	}
	if s.Outage != nil {
		out.away, out.outage = s.Outage.DeviceID, s.Outage.Since
	}
	return out
}

// TestExplanations_TellWhereAServiceWasHeardOfLast: where and when, or for how long nothing was heard, and whether
// ever. What is not known, and what was in the past, is neither. An outage is of the router where it was heard of last.
func TestExplanations_TellWhereAServiceWasHeardOfLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	c := w.register(t, r)
	made := w.clock.Now().Truncate(time.Microsecond)
	w.clock.Advance(time.Hour)
	w.subscribe(t, r, c)
	w.clock.Advance(99 * time.Hour)
	w.settle(t)
	now, at, tower := w.clock.Now().Truncate(time.Microsecond), made.Add(50*time.Hour), id.New[id.Device]()
	last := telemetry.LastSign{SubscriptionID: c.lines[0], DeviceID: tower, At: at}
	gone, away := map[id.Device]time.Time{}, error(nil)
	w.cases.Away = func(context.Context, id.Organization) (map[id.Device]time.Time, error) {
		if away != nil {
			return nil, away
		}
		return gone, nil
	}
	is := func(what string, asked time.Time, want ...signs) {
		t.Helper()
		x, err := w.cases.Of(t.Context(), w.org, c.id, asked)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range x.Services {
			if got := signsOf(s); got != want[i] {
				t.Errorf("%s: service %d is told as %+v, want %+v", what, i, got, want[i])
			}
		}
	}
	present, never := time.Time{}, signs{notHeard: made.Add(time.Hour), never: true}
	is("reports are not known here", present, signs{}, signs{})
	l := &listener{}
	w.cases.Network = l
	is("nobody was heard of", present, signs{notHeard: made, never: true}, never)
	is("the past", now.Add(-time.Hour), signs{}, signs{})
	l.err = errors.New("away")
	is("reports cannot be read", present, signs{}, signs{})
	l.err, w.cases.Kept = nil, 99*time.Hour+30*time.Minute
	is("one was made before what is kept", present, signs{notHeard: now.Add(-w.cases.Kept)}, never)
	l.last = []telemetry.LastSign{last}
	is("one was heard of", present, signs{heard: at}, never)
	gone[tower] = at.Add(time.Minute)
	is("its router went away since", present, signs{heard: at, away: tower, outage: gone[tower]}, never)
	away = errors.New("away")
	is("routers cannot be read", present, signs{heard: at}, never)
	away, gone[tower] = nil, at.Add(-time.Minute)
	is("it was heard of since its router went away", present, signs{heard: at}, never)
	gone = map[id.Device]time.Time{id.New[id.Device](): at.Add(time.Minute)}
	is("another router went away", present, signs{heard: at}, never)
}

package reportscases

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/joined"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// slowPolls says of every router that it has not answered; the first call waits until open is closed.
type slowPolls struct {
	calls  atomic.Int32
	called chan struct{}
	open   chan struct{}
}

// Latest implements Polls.
func (p *slowPolls) Latest(
	_ context.Context, _ id.Organization, devices []id.Device,
) (map[id.Device]networkviews.Poll, error) {
	if p.calls.Add(1) == 1 {
		close(p.called)
		<-p.open
	}
	out := map[id.Device]networkviews.Poll{}
	for _, d := range devices {
		out[d] = networkviews.Poll{DeviceID: d}
	}
	return out, nil
}

// TestAway_AReadingThatOthersShareKnowsWhatTheyWereToldOf: a router that has gone away since the first of them asked.
func TestAway_AReadingThatOthersShareKnowsWhatTheyWereToldOf(t *testing.T) {
	t.Parallel()
	org, tower, mill := id.New[id.Organization](), id.New[id.Device](), id.New[id.Device]()
	log := feedtest.New()
	r := runner.New(runner.Config{
		Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(time.Unix(0, 0)),
	})
	r.Register(networkviews.Devices{})
	coretest.Start(t, "projections", r)
	happen := func(list ...events.Event) {
		for _, e := range list {
			log.Append(events.Metadata{OrgID: org}, e)
		}
		head, _ := log.Head(t.Context())
		coretest.WaitFor(t, r.Views(), head, networkviews.DevicesName)
	}
	happen(
		events.DeviceRegistered{DeviceID: tower, OrgID: org, APIRef: id.New[id.Secret]()},
		events.DeviceRegistered{DeviceID: mill, OrgID: org, APIRef: id.New[id.Secret]()},
		events.DeviceUnreachable{DeviceID: tower},
	)
	polls := &slowPolls{called: make(chan struct{}), open: make(chan struct{})}
	u := Today{
		Views: r.Views(), Polls: polls, SharedGone: &joined.Reads[id.Organization, Gone]{},
		Unreachable: &runner.Kept[id.Organization, []networkviews.DeviceHealth]{},
	}
	answers := make(chan int, 3)
	ask := func() {
		away, err := u.Away(t.Context(), org)
		if err != nil {
			t.Error(err)
		}
		answers <- len(away)
	}
	go ask()
	<-polls.called
	go ask() // has the next reading
	happen(events.DeviceUnreachable{DeviceID: mill})
	told := make(chan int, 1)
	go func() {
		away, err := u.Away(t.Context(), org)
		if err != nil {
			t.Error(err)
		}
		told <- len(away)
	}()
	happen(events.DeviceDetailsCorrected{DeviceID: mill}) // meanwhile it joins
	close(polls.open)
	if got := <-told; got != 2 {
		t.Errorf("%d routers are away for one who was told of two", got)
	}
	<-answers
	<-answers
}

package accessjobs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/radius/coa"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// TestEnforceRouter_EachWriteHasTheNameOfWhoAskedForThatOne: a router is dead, and many wait for it. Its job makes the
// writes later: what a clerk asked for has the clerk's name and request, and what a program caused has neither.
func TestEnforceRouter_EachWriteHasTheNameOfWhoAskedForThatOne(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	blocked, cut := k.online(), k.another("brian")
	k.deaf()
	k.menus.away = true
	program := k.cause()
	program.Actor = events.Actor{Kind: events.ActorProcess, ID: "dunning"}
	k.apply(events.SubscriberBlocked{SubscriberID: cut.SubscriberID})
	for range 7 { // until both breakers are open
		args := commands.EnforceAccess{SubscriberID: cut.SubscriberID}
		if err := k.Enforce(t.Context(), args, program); err != nil {
			t.Fatal(err)
		}
		_ = k.Breakers.Do(t.Context(), routeros.BreakerKind, k.device.String(), func(context.Context) error {
			return errors.New("away")
		})
	}
	late := k.another("carol") // a program's as well, and the router is known to be dead
	k.apply(events.SubscriberBlocked{SubscriberID: late.SubscriberID})
	if err := k.Enforce(t.Context(), commands.EnforceAccess{SubscriberID: late.SubscriberID}, program); err != nil {
		t.Fatal(err)
	}
	k.block(true)
	if err := k.enforce(); err != nil || len(k.history(blocked)) != 1 || len(k.history(late)) != 0 {
		t.Errorf("%v, announced %v, %v", err, k.history(blocked), k.history(late))
	}
	k.menus.away = false
	if err := k.nas.SetFaults(handset.Faults{}); err != nil {
		t.Fatal(err)
	}
	k.Radius = &coa.Client{Tries: 1, Pause: 10 * time.Second}
	k.clock.Advance(time.Hour) // the breaker's pause
	k.idle()
	job := jobs.Cause{OrgID: k.org, JobID: id.New[id.Any]()} // as it stands in the queue
	_ = k.EnforceRouter(t.Context(), commands.EnforceRouter{DeviceID: k.device}, job)
	if got := k.changed(blocked); got.By != k.cause().Actor || got.CorrelationID != k.cause().CorrelationID {
		t.Errorf("the clerk's: %+v", got)
	}
	if got := k.changed(cut); got.By != program.Actor {
		t.Errorf("the program's: %+v", got)
	}
	if got := k.changed(late); got.By.ID != "enforcement" || got.CorrelationID != "" {
		t.Errorf("the program's that was not announced: %+v", got)
	}
}

// TestEnforceAll_LeavesTimeToTheJobThatKnowsWhoCausedAChange: a look at all sessions may fall between an event and its
// job.
func TestEnforceAll_LeavesTimeToTheJobThatKnowsWhoCausedAChange(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.block(true)
	if err := k.EnforceAll(t.Context(), commands.EnforceAll{}, jobs.Cause{JobID: id.New[id.Any]()}); err != nil {
		t.Fatal(err)
	}
	waits := `select scheduled_at, coalesce(metadata #>> '{cause,actor,kind}', '') from ` +
		k.DB.Namespace.Schema("river") + `.river_job where kind = 'access_enforce_router'`
	var at time.Time
	var actor string
	if err := k.DB.Owner.QueryRow(t.Context(), waits).Scan(&at, &actor); err != nil {
		t.Fatal(err)
	}
	if wait := at.Sub(k.clock.Now()); wait < time.Second || wait > 15*time.Second || actor != "" {
		t.Errorf("begins after %v, by %q", wait, actor)
	}
	if err := k.enforce(); err == nil || k.changed(s).By != k.cause().Actor {
		t.Errorf("%v, %v", err, k.history(s))
	}
}

// TestEnforce_WhatSomebodyChangedMeanwhileHasThatName: a payment and a clerk's block come one after the other,
// and the job about the payment runs late enough to see the block.
func TestEnforce_WhatSomebodyChangedMeanwhileHasThatName(t *testing.T) {
	t.Parallel()
	program := jobs.Cause{Actor: events.Actor{Kind: events.ActorProcess, ID: "renewal"}, CorrelationID: "payment"}
	clerk := events.Metadata{At: noon, Actor: events.Actor{Kind: events.ActorUser, ID: "clerk"}, CorrelationID: "act"}
	for _, one := range []struct {
		what  string
		act   events.Metadata
		later uint64        // events between the block and the one that led to the job
		after time.Duration // the job runs
		by    events.Actor
	}{
		{"an older event", clerk, 0, time.Hour, clerk.Actor},
		{"a newer event", clerk, 1, 0, program.Actor},
		{"a program's act", events.Metadata{At: noon, Actor: program.Actor}, 0, 0, program.Actor},
	} {
		t.Run(one.what, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			s := k.online()
			paid := k.position
			k.position++
			act := one.act
			act.OrgID = k.org
			k.dir.Apply(events.Envelope{
				ID: id.New[id.Event](), Position: k.position, Meta: act,
				Event: events.SubscriberBlocked{SubscriberID: k.subscriber},
			})
			k.clock.Advance(one.after)
			cause := program
			cause.OrgID, cause.JobID = k.org, id.New[id.Any]()
			args := commands.EnforceAccess{SubscriberID: k.subscriber, Position: paid + 2*one.later}
			_ = k.Enforce(t.Context(), args, cause)
			if got := k.changed(s); got.By != one.by {
				t.Errorf("by %+v", got)
			}
		})
	}
}

// TestEnforceRouter_ALookThatComesBeforeTheJobHasTheNameOfWhoChangedIt: for a minute.
func TestEnforceRouter_ALookThatComesBeforeTheJobHasTheNameOfWhoChangedIt(t *testing.T) {
	t.Parallel()
	clerk := events.Metadata{At: noon, Actor: events.Actor{Kind: events.ActorUser, ID: "clerk"}, CorrelationID: "act"}
	for after, by := range map[time.Duration]string{59 * time.Second: "clerk", time.Minute: "enforcement"} {
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			s := k.online()
			act := clerk
			act.OrgID = k.org
			k.dir.Apply(events.Envelope{
				ID: id.New[id.Event](), Position: k.position + 1, Meta: act,
				Event: events.SubscriberBlocked{SubscriberID: k.subscriber},
			})
			k.clock.Advance(after)
			job := jobs.Cause{OrgID: k.org, JobID: id.New[id.Any]()}
			_ = k.EnforceRouter(t.Context(), commands.EnforceRouter{DeviceID: k.device}, job)
			if got := k.changed(s); got.By.ID != by {
				t.Errorf("by %+v", got)
			}
		})
	}
}

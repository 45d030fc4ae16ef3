package accessjobs_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// devices signs in so many devices of the customer, a minute one after the other.
func (k *kit) devices(n int) {
	k.t.Helper()
	for i := range n {
		k.clock.Advance(time.Minute)
		r, err := k.nas.SignIn(k.t.Context(), handset.Customer{
			Name: "amina", Password: "pw", MAC: fmt.Sprintf("AA:BB:CC:00:22:%02d", i),
		})
		if err != nil || r.Outcome != handset.Accepted {
			k.t.Fatalf("sign in: %+v, %v", r, err)
		}
		k.idle()
	}
}

// limits are the jobs about the limit that wait.
func (k *kit) limits() (jobs []commands.EnforceLimit) {
	k.t.Helper()
	list, err := jobrunner.Waiting[commands.EnforceLimit](k.t.Context(), k.Queue)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, one := range list {
		jobs = append(jobs, one.Args)
	}
	return jobs
}

func TestEnforceLimit_EndsTheOldestSessionsBeyondIt(t *testing.T) {
	t.Parallel()
	k := newKit(t) // the plan has a limit of 3, and nobody keeps it at the sign-in
	s := k.online()
	k.devices(4)
	for range 2 {
		if err := k.EnforceAll(t.Context(), commands.EnforceAll{}, k.cause()); err != nil {
			t.Fatal(err)
		}
	}
	list := k.limits()
	if len(list) != 1 || list[0].SubscriptionID != k.subscription || list[0].SubscriberID != k.subscriber {
		t.Fatalf("jobs %+v", list)
	}
	if err := k.EnforceLimit(t.Context(), list[0], k.cause()); err == nil {
		t.Error("nobody looks whether they are gone")
	}
	k.idle()
	if k.session(s).EndedAt == nil || k.changed(s).Reason != "session_limit" || len(k.nas.Sessions()) != 3 {
		t.Errorf("%v, %d sessions", k.history(s), len(k.nas.Sessions()))
	}
	k.clock.Advance(time.Minute)
	if err := k.EnforceLimit(t.Context(), list[0], k.cause()); err != nil || len(k.nas.Sessions()) != 3 {
		t.Errorf("again: %v, %d sessions", err, len(k.nas.Sessions()))
	}
}

func TestEnforceLimit_EndsWhatASignInHasReplaced(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	args := commands.EnforceLimit{
		OrgID: k.org, SubscriberID: k.subscriber, SubscriptionID: k.subscription,
		Sessions: []id.Online{id.As[id.Online](s.ID)},
	}
	if err := k.EnforceLimit(t.Context(), args, k.cause()); err == nil || k.session(s).EndedAt == nil {
		t.Errorf("%v", err)
	}
	if err := k.EnforceLimit(t.Context(), args, k.cause()); err != nil || k.changed(s).Reason != "session_limit" {
		t.Errorf("again: %v, %v", err, k.history(s))
	}
}

func TestEnforceLimit_ARouterThatDoesNotAnswerHoldsUpNoLaterJob(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.online()
	k.devices(3)
	k.deaf()
	k.menus.away = true
	args := commands.EnforceLimit{OrgID: k.org, SubscriberID: k.subscriber, SubscriptionID: k.subscription}
	for range 2 {
		if err := k.EnforceLimit(t.Context(), args, k.cause()); err != nil {
			t.Errorf("the job waits: %v", err)
		}
	}
}

// TestBeginnings_ManySessionsOfACustomerAreOneJob: a router invents sessions, and another organization's customer is
// not forgotten for that.
func TestBeginnings_ManySessionsOfACustomerAreOneJob(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	begins := accessjobs.NewBeginnings(k.Enforcer)
	replaced := func(org id.Organization, subscription id.Subscription) telemetry.Replaced {
		return telemetry.Replaced{
			OrgID: org, SubscriberID: k.subscriber, SubscriptionID: subscription,
			Sessions: []telemetry.SessionID{id.New[telemetry.SessionID]()},
		}
	}
	for range 1_000 {
		begins.End(replaced(k.org, k.subscription))
	}
	for range 2_000 {
		begins.End(replaced(k.org, id.New[id.Subscription]()))
	}
	other := id.New[id.Subscription]()
	begins.End(replaced(id.New[id.Organization](), other))
	coretest.Start(t, "beginnings", begins)
	deadline, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for len(k.limits()) < 251 {
		if !loop.Sleep(deadline, 5*time.Millisecond) {
			t.Fatalf("%d jobs", len(k.limits()))
		}
	}
	found := map[id.Subscription]int{}
	for _, job := range k.limits() {
		found[job.SubscriptionID] = len(job.Sessions)
	}
	if len(found) != 251 || found[k.subscription] != 32 || found[other] != 1 {
		t.Errorf("%d jobs, %d sessions of the first, %d of the other organization", len(found), found[k.subscription],
			found[other])
	}
}

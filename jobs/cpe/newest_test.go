package cpejobs_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// check looks for the outcome, once the read model shows all.
func (o *operated) check() {
	o.t.Helper()
	o.WaitForAll(o.t, o.views, cpeviews.OperationsName)
	cause := jobs.Cause{JobID: id.New[id.Any]()}
	if err := o.jobs.Check(o.t.Context(), commands.CheckCpeOperation{CpeWork: o.work}, cause); err != nil {
		o.t.Fatal(err)
	}
}

// TestSend_NothingGoesToTheDeviceOfAnotherCustomer: it was given to somebody else after the request, or taken. What was
// asked for while nobody had it is for whoever has it by now.
func TestSend_NothingGoesToTheDeviceOfAnotherCustomer(t *testing.T) {
	t.Parallel()
	jane, next := id.New[id.Subscriber](), id.New[id.Subscriber]()
	for _, c := range []struct {
		asked, has id.Subscriber
		want       cpe.OperationState
	}{
		{jane, jane, cpe.Sent}, {jane, next, cpe.Failed}, {jane, id.Subscriber{}, cpe.Failed},
		{id.Subscriber{}, next, cpe.Sent},
	} {
		o := operate(t, events.CpeWifi)
		o.work.SubscriberID, o.user = c.asked, c.has
		if err := o.send(id.New[id.Any]()); err != nil {
			t.Fatal(err)
		}
		var asked []string
		if c.want == cpe.Sent {
			asked = []string{"send"}
		}
		o.is(c.want, asked...)
	}
	o := operate(t, events.CpeWifi)
	o.work.SubscriberID, o.user = jane, jane
	if err := o.send(id.New[id.Any]()); err != nil {
		t.Fatal(err)
	}
	o.user = next // before the device has come for it
	o.check()
	o.is(cpe.Failed, "send", "withdraw 1")
}

// again asks for another change of the Wi-Fi, and waits until the read model shows it.
func (o *operated) again() id.CPEOperation {
	o.t.Helper()
	later := id.New[id.CPEOperation]()
	o.Run(o.t, coretest.Operator(o.owner), commands.QueueCpeOperation{
		OperationID: later, CpeID: o.work.CpeID, OrgID: o.owner, Kind: events.CpeWifi,
	})
	o.WaitForAll(o.t, o.views, cpeviews.OperationsName)
	return later
}

// TestSend_ANewerWifiThatFailedKeepsNoOlderOneAway: the customer would have neither.
func TestSend_ANewerWifiThatFailedKeepsNoOlderOneAway(t *testing.T) {
	t.Parallel()
	o := operate(t, events.CpeWifi)
	o.Run(t, coretest.Operator(o.owner), commands.FailCpeOperation{OperationID: o.again(), Code: "cwmp.9007"})
	o.WaitForAll(t, o.views, cpeviews.OperationsName)
	if err := o.send(id.New[id.Any]()); err != nil {
		t.Fatal(err)
	}
	o.is(cpe.Sent, "send")
}

// TestSend_AnOlderWifiDoesNotComeAfterANewerOne: one that was not sent is not, and one that waits is taken back. One
// that was found done before was done.
func TestSend_AnOlderWifiDoesNotComeAfterANewerOne(t *testing.T) {
	t.Parallel()
	o := operate(t, events.CpeWifi)
	o.again()
	if err := o.send(id.New[id.Any]()); err != nil {
		t.Fatal(err)
	}
	o.is(cpe.Failed)
	for done, want := range map[bool]cpe.OperationState{false: cpe.Failed, true: cpe.Confirmed} {
		o := operate(t, events.CpeWifi)
		if err := o.send(id.New[id.Any]()); err != nil {
			t.Fatal(err)
		}
		o.again()
		o.server.outcome = cpejobs.Outcome{Done: done}
		o.check()
		asked := []string{"send", "outcome of 1"}
		if !done {
			asked = append(asked, "withdraw 1")
		}
		o.is(want, asked...)
	}
}

// TestWaiting_CountsWhatHasNotEndedAndWhatWasReplaced lately, of the organization alone.
func TestWaiting_CountsWhatHasNotEndedAndWhatWasReplaced(t *testing.T) {
	t.Parallel()
	o, began := operate(t, events.CpeWifi), time.Now().Add(-time.Minute)
	o.again()
	counts := func(org id.Organization, since time.Time, want int) {
		t.Helper()
		o.WaitForAll(t, o.views, cpeviews.OperationsName)
		if n, err := o.jobs.Rows.Waiting(t.Context(), org, o.work.CpeID, since); n != want || err != nil {
			t.Errorf("%d wait since %s, want %d (%v)", n, since, want, err)
		}
	}
	counts(o.owner, began, 2)
	if err := o.send(id.New[id.Any]()); err != nil { // it is replaced by the other one
		t.Fatal(err)
	}
	o.is(cpe.Failed)
	counts(o.owner, began, 2)
	counts(o.owner, time.Now().Add(time.Minute), 1)
	counts(id.New[id.Organization](), began, 0)
}

// TestCheck_ADownloadWhoseTaskIsLostKnowsThoseOfOthers, so that it takes no fault of theirs for its own.
func TestCheck_ADownloadWhoseTaskIsLostKnowsThoseOfOthers(t *testing.T) {
	t.Parallel()
	o, job := operate(t, events.CpeReboot), id.New[id.Any]()
	if err := o.send(id.New[id.Any]()); err != nil {
		t.Fatal(err)
	}
	others := o.server.outcome.Tasks
	o.deploys()
	o.server.lose = 1
	if err := o.send(job); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	if err := o.send(job); err != nil {
		t.Fatal(err)
	}
	o.server.outcome = cpejobs.Outcome{}
	o.check()
	if w := o.server.looked[0]; len(w.Tasks) > 0 || !slices.Equal(w.Others, others) {
		t.Errorf("looked for %+v, others %+v", w.Tasks, w.Others)
	}
}

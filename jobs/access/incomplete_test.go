package accessjobs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestIncomplete_NobodysSessionIsChangedOrEnded: an event of the organization cannot be read. Its customers could not
// sign in again, so neither a job nor a person ends a session, and nothing is recorded about what was announced before.
func TestIncomplete_NobodysSessionIsChangedOrEnded(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.devices(4) // one more than the plan allows
	k.Step = func(string) { panic("killed") }
	func() {
		defer func() { _ = recover() }()
		k.block(true)
		_ = k.enforce()
	}()
	k.Step = nil
	before, online := len(k.history(s)), len(k.nas.Sessions())
	k.dir.Leave(k.org)

	if err := k.enforce(s); err != nil {
		t.Error(err)
	}
	if err := k.EnforceAll(t.Context(), commands.EnforceAll{}, k.cause()); err != nil || len(k.limits()) != 0 ||
		k.waiting() != 0 {
		t.Errorf("%v, jobs %+v, %d routers wait", err, k.limits(), k.waiting())
	}
	if err := k.round(t.Context()); err != nil {
		t.Error(err)
	}
	err := k.EnforceLimit(t.Context(), commands.EnforceLimit{
		OrgID: k.org, SubscriberID: k.subscriber, SubscriptionID: k.subscription,
		Sessions: []id.Online{id.As[id.Online](s.ID)},
	}, k.cause())
	if err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a job about the limit ends with %v", err)
	}
	meta := commands.Meta{CommandID: id.New[id.Command](), OrgID: k.org, Actor: k.cause().Actor}
	done, err := k.Disconnect(t.Context(), s.ID, false, meta)
	if err != nil || done.Ended || !strings.Contains(done.Error, "cannot be read") {
		t.Errorf("a person: %+v, %v", done, err)
	}
	if err := k.leave(k.decommission()); err == nil {
		t.Error("a router is left whose sessions go on")
	}
	if got := k.session(s); got.EndedAt != nil || len(k.history(s)) != before || len(k.nas.Sessions()) != online {
		t.Errorf("%+v, %v, %d sessions", got, k.history(s), len(k.nas.Sessions()))
	}
}

// TestHandOver_JobsOfAnEarlierVersionEnd: the job that the earlier version asked for reads as it was written, and
// becomes the present one about the session's subscription, once.
func TestHandOver_JobsOfAnEarlierVersionEnd(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	var args commands.EndOnlineSession
	written := `{"sessionId":"` + s.ID.String() + `","orgId":"` + k.org.String() + `","reason":"session_limit"}`
	if err := json.Unmarshal([]byte(written), &args); err != nil || args.Kind() != "access_end_session" {
		t.Fatal(err, args.Kind())
	}
	for range 2 {
		if err := k.HandOver(t.Context(), args, k.cause()); err != nil {
			t.Fatal(err)
		}
	}
	list := k.limits()
	if len(list) != 1 || list[0].SubscriptionID != k.subscription || len(list[0].Sessions) != 1 {
		t.Fatalf("%+v", list)
	}
	if err := k.EnforceLimit(t.Context(), list[0], k.cause()); err == nil || k.session(s).EndedAt == nil {
		t.Errorf("%v, %+v", err, k.history(s))
	}
	for what, gone := range map[string]commands.EndOnlineSession{
		"ended":   args,
		"unknown": {SessionID: id.New[id.Online](), OrgID: k.org, Reason: "session_limit"},
		"foreign": {SessionID: args.SessionID, OrgID: id.New[id.Organization](), Reason: "session_limit"},
	} {
		if err := k.HandOver(t.Context(), gone, k.cause()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if again := k.limits(); len(again) != 1 {
		t.Errorf("%+v", again)
	}
	if _, is := k.history(s)[0].(events.SessionChangeAnnounced); !is {
		t.Errorf("%v", k.history(s))
	}
}

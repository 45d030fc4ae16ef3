package handset_test

import (
	"context"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/coa"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// plan answers with a rate of 8/80 Mbit/s, which is 1 and 10 MB a second, and more attributes.
func plan(more radius.Attributes) func(string, *radius.Reply) {
	return func(_ string, r *radius.Reply) {
		r.Accept(radius.Attributes{}.MikroTik(8, "8M/80M"))
		r.Append(more)
	}
}

// A moved clock lets counters grow past 32 bits, interim reports come and sessions time out.
func TestSession_TheClockMakesReportsAndEndsSessions(t *testing.T) {
	t.Parallel()
	k := start(t, plan(radius.Attributes{}.Number(27, 7200).Number(85, 300)), nil)
	k.online(handset.Customer{Name: "jane"})
	k.next(radius.StatusStart)
	k.advance(5 * time.Minute)
	if r := k.next(radius.StatusInterim); r.BytesIn != 300e6 || r.BytesOut != 3000e6 || r.SessionTime != 5*time.Minute {
		t.Errorf("interim %d %d %v", r.BytesIn, r.BytesOut, r.SessionTime)
	}
	k.settled()
	k.advance(55 * time.Minute) // one report for all that were left out
	if r := k.next(radius.StatusInterim); r.BytesOut != 36e9 || !r.EventAt.Equal(noon.Add(time.Hour)) {
		t.Errorf("interim %d at %v", r.BytesOut, r.EventAt)
	}
	k.settled()
	k.advance(30 * 24 * time.Hour) // ended at its own time
	r := k.next(radius.StatusStop)
	if r.BytesOut != 72e9 || r.TerminateCause != 5 || r.SessionTime != 2*time.Hour ||
		!r.EventAt.Equal(noon.Add(2*time.Hour)) || r.Delay != 30*24*time.Hour-time.Hour {
		t.Errorf("stop %+v", r)
	}
	k.settled()
	if len(k.Sessions()) != 0 {
		t.Error("the session is still online")
	}
}

func TestSession_AnIdleOneEnds(t *testing.T) {
	t.Parallel()
	k := start(t, plan(radius.Attributes{}.Number(28, 600)), nil)
	k.online(handset.Customer{Name: "jane", Idle: true})
	k.online(handset.Customer{Name: "kim", Load: 0.5})
	k.next(radius.StatusStart)
	k.next(radius.StatusStart)
	k.advance(time.Hour)
	if r := k.next(radius.StatusStop); r.UserName != "jane" || r.TerminateCause != 4 || r.BytesOut != 0 {
		t.Errorf("stop %+v", r)
	}
	if list := k.Sessions(); len(list) != 1 || list[0].BytesOut != 18e9 {
		t.Errorf("%+v", list)
	}
}

func TestSession_APowerCutIsSilentAndBeginsNewIDs(t *testing.T) {
	t.Parallel()
	k := start(t, nil, nil)
	s := k.online(handset.Customer{Name: "jane"})
	k.next(radius.StatusStart)
	gone := k.PowerCut()
	k.settled()
	if len(gone) != 1 || k.SignOut(s.ID, handset.UserRequest) {
		t.Errorf("gone: %v", gone)
	}
	if again := k.online(gone[0]); again.ID != "81100001" || again.MAC != s.MAC {
		t.Errorf("again %+v, before %+v", again, s)
	}
	k.next(radius.StatusStart)
}

// router is the NAS as a client of dynamic authorization knows it.
func (k *kit) router() coa.Router { return coa.Router{Address: k.CoAAddr(), Secret: secret} }

// named names a session as the server does.
func named(s handset.Session) coa.Session {
	return coa.Session{
		UserName: s.User, SessionID: s.ID, FramedIP: netip.MustParseAddr(s.Address), NASIP: localhost,
	}
}

func TestDynamic_ADisconnectEndsTheSessionOnce(t *testing.T) {
	t.Parallel()
	k := start(t, plan(nil), nil)
	for _, service := range []string{handset.PPPoE, handset.Hotspot} {
		s := k.online(handset.Customer{Name: "jane", Service: service})
		k.next(radius.StatusStart)
		other := named(s)
		other.UserName = "kim"
		client := coa.Client{}
		if a, err := client.Disconnect(t.Context(), k.router(), other); err != nil || !a.Gone() {
			t.Errorf("another user: %+v, %v", a, err)
		}
		other = named(s)
		other.NASIP = netip.MustParseAddr("192.0.2.1")
		if a, err := client.Disconnect(t.Context(), k.router(), other); err != nil || a.Cause != coa.NASMismatch {
			t.Errorf("another router: %+v, %v", a, err)
		}
		if a, err := client.Disconnect(t.Context(), k.router(), named(s)); err != nil || !a.Done {
			t.Errorf("disconnect: %+v, %v", a, err)
		}
		if r := k.next(radius.StatusStop); r.TerminateCause != 6 || r.SessionID != s.ID {
			t.Errorf("stop %+v", r)
		}
		if a, err := client.Disconnect(t.Context(), k.router(), named(s)); err != nil || !a.Gone() {
			t.Errorf("again: %+v, %v", a, err)
		}
	}
}

func TestDynamic_AChangeTurnsTheRateAndNothingElse(t *testing.T) {
	t.Parallel()
	k := start(t, plan(nil), nil)
	s := k.online(handset.Customer{Name: "jane"})
	k.next(radius.StatusStart)
	k.advance(10 * time.Second)
	client := coa.Client{}
	change := func(attributes radius.Attributes) coa.Answer {
		t.Helper()
		a, err := client.Change(t.Context(), k.router(), named(s), attributes)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := change(radius.Attributes{}.MikroTik(8, "800k/8M")); !a.Done {
		t.Errorf("rate: %+v", a)
	}
	for name, refused := range map[string]struct {
		attributes radius.Attributes
		cause      coa.Cause
	}{
		"list": {radius.Attributes{}.MikroTik(8, "1M").MikroTik(19, "x"), coa.UnsupportedAttribute},
		"pool": {radius.Attributes{}.Text(88, "x"), coa.UnsupportedAttribute},
		"rate": {radius.Attributes{}.MikroTik(8, "fast"), coa.InvalidValue},
	} {
		if a := change(refused.attributes); a.Done || a.Cause != refused.cause {
			t.Errorf("%s: %+v", name, a)
		}
	}
	k.advance(10 * time.Second)
	now, _ := k.Session(s.ID)
	if now.RateLimit != "800k/8M" || now.BytesIn != 11e6 || now.BytesOut != 110e6 {
		t.Errorf("%+v", now)
	}
	if a := change(radius.Attributes{}.Number(27, 60)); !a.Done {
		t.Errorf("timeout: %+v", a)
	}
	k.advance(40 * time.Second)
	if r := k.next(radius.StatusStop); r.TerminateCause != 5 {
		t.Errorf("stop %+v", r)
	}
}

func TestDynamic_FaultsAndStrangers(t *testing.T) {
	t.Parallel()
	k := start(t, plan(nil), nil)
	s := k.online(handset.Customer{Name: "jane"})
	k.next(radius.StatusStart)
	quick := coa.Client{Tries: 1, Pause: 50 * time.Millisecond}
	stranger := coa.Router{Address: k.CoAAddr(), Secret: []byte("other")}
	if _, err := quick.Disconnect(t.Context(), stranger, named(s)); err == nil {
		t.Error("a wrong secret was answered")
	}
	from := coa.Client{Local: netip.MustParseAddr("127.0.0.2"), Tries: 1, Pause: 50 * time.Millisecond}
	if _, err := from.Disconnect(t.Context(), k.router(), named(s)); err == nil {
		t.Error("another host was answered")
	}
	k.set(handset.Faults{Dynamic: handset.Silent})
	if _, err := quick.Disconnect(t.Context(), k.router(), named(s)); err == nil {
		t.Error("a silent router answered")
	}
	k.set(handset.Faults{Dynamic: handset.Refuse})
	if a, err := (&coa.Client{}).Disconnect(t.Context(), k.router(), named(s)); err != nil ||
		a.Cause != coa.SessionNotRemovable {
		t.Errorf("%+v, %v", a, err)
	}
	k.set(handset.Faults{Dynamic: handset.Slow, DynamicDelayMs: 5000})
	if _, err := quick.Disconnect(t.Context(), k.router(), named(s)); err == nil {
		t.Error("a slow router answered at once")
	}
	k.next(radius.StatusStop) // obeyed all the same
	if st := k.Statistics(); st.Disconnected != 1 || st.Refused != 1 || st.Ignored != 2 {
		t.Errorf("%+v", st)
	}
}

// set sets faults that must be possible.
func (k *kit) set(f handset.Faults) {
	k.t.Helper()
	if err := k.SetFaults(f); err != nil {
		k.t.Fatal(err)
	}
}

func TestFaults_ReportsAreLostRepeatedLateAndOutOfOrder(t *testing.T) {
	t.Parallel()
	k := start(t, plan(nil), nil)
	k.set(handset.Faults{LoseStops: 1})
	k.SignOut(k.online(handset.Customer{Name: "a"}).ID, handset.LostCarrier)
	k.next(radius.StatusStart)
	k.settled()

	k.set(handset.Faults{RepeatReports: 1})
	s := k.online(handset.Customer{Name: "b"})
	k.next(radius.StatusStart)
	k.next(radius.StatusStart)
	k.settled()

	k.set(handset.Faults{LateSeconds: 60})
	k.SignOut(s.ID, handset.UserRequest)
	k.clock.Advance(time.Minute)
	if r := k.next(radius.StatusStop); r.Delay != time.Minute || !r.EventAt.Equal(noon) {
		t.Errorf("late stop %+v", r)
	}
	k.settled()

	k.set(handset.Faults{ReorderReports: true})
	k.SignOut(k.online(handset.Customer{Name: "c"}).ID, handset.UserRequest)
	k.next(radius.StatusStop)
	k.next(radius.StatusStart)
	k.settled()

	k.set(handset.Faults{DropReplies: 1})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := k.SignIn(ctx, handset.Customer{Name: "d", Password: "pw-d"})
		done <- err
	}()
	for range 2 {
		k.untilWaiting()
		k.clock.Advance(3 * time.Second)
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("an answer arrived although all are lost")
	}
	for _, f := range []handset.Faults{{LoseStops: 2}, {LateSeconds: -1}, {Dynamic: "x"}} {
		if k.SetFaults(f) == nil {
			t.Errorf("%+v is possible", f)
		}
	}
}

// refuse lets the server leave so many reports of a status without an answer.
func (k *kit) refuse(status radius.Status, count int) {
	k.isp.mu.Lock()
	defer k.isp.mu.Unlock()
	k.isp.hold[status] = count
}

// refused waits until the server has left them without an answer, but for so many that are still to come.
func (k *kit) refused(status radius.Status, toCome int) {
	k.t.Helper()
	for end := time.Now().Add(waittest.Limit); ; runtime.Gosched() {
		k.isp.mu.Lock()
		left := k.isp.hold[status]
		k.isp.mu.Unlock()
		if left == toCome {
			return
		}
		if time.Now().After(end) {
			k.t.Fatalf("the server still waits for %d reports %s", left, status)
		}
	}
}

// A report without an answer is sent again, and after three times it is given up; the next ones go their way.
func TestReports_OneWithoutAnAnswerComesAgain(t *testing.T) {
	t.Parallel()
	k := start(t, plan(nil), nil)
	k.refuse(radius.StatusStart, 1)
	s := k.online(handset.Customer{Name: "jane"})
	k.refused(radius.StatusStart, 0)
	k.clock.Advance(3 * time.Second)
	if r := k.next(radius.StatusStart); r.Delay != 0 || !r.EventAt.Equal(noon) {
		t.Errorf("%+v", r) // the same octets
	}
	k.settled()
	if st := k.Statistics(); st.Repeated != 1 || st.Reports != 1 {
		t.Errorf("%+v", st)
	}
	k.refuse(radius.StatusStop, 3)
	k.SignOut(s.ID, handset.LostCarrier)
	for toCome := 2; toCome >= 0; toCome-- {
		k.refused(radius.StatusStop, toCome)
		k.clock.Advance(3 * time.Second)
	}
	k.settled()
	if st := k.Statistics(); st.ReportsUnanswered != 1 {
		t.Errorf("%+v", st)
	}
}

func TestReports_APowerCutDropsThoseOnTheirWay(t *testing.T) {
	t.Parallel()
	k := start(t, plan(nil), nil)
	k.refuse(radius.StatusStart, 1)
	s := k.online(handset.Customer{Name: "jane"})
	k.refused(radius.StatusStart, 0)
	k.SignOut(s.ID, handset.UserRequest) // waits behind the start
	k.PowerCut()
	k.settled()
	k.clock.Advance(time.Minute)
	k.online(handset.Customer{Name: "kim"})
	if r := k.next(radius.StatusStart); r.UserName != "kim" {
		t.Errorf("%+v", r)
	}
	k.settled()
}

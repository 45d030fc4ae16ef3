package directory_test

import (
	"fmt"
	"testing"
	"time"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// spot is a kit with a customer who has paid, and whose phone stands at a hotspot.
type spot struct {
	*kit
	isp
	sessions int
}

// newSpot makes one. The password of amina is pw.
func newSpot(t *testing.T, limit int) *spot {
	t.Helper()
	s, i := newSafe(), newISP()
	i.terms.Access.SessionLimit = limit
	return &spot{
		kit: newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.AddDate(0, 1, 0))...)...), isp: i,
	}
}

// within adds the id of a new session to a sign-in, and gives it.
func (s *spot) within(p *layeh.Packet) (*layeh.Packet, string) {
	s.sessions++
	session := fmt.Sprintf("8000%04d", s.sessions)
	_ = rfc2866.AcctSessionID_SetString(p, session)
	return p, session
}

// begins signs a device in and reports its session.
func (s *spot) begins(mac, name, password string) (session string) {
	s.t.Helper()
	p, session := s.within(hotspot(mac, name, password))
	s.accepted(p)
	s.reports(mac, session, telemetry.Start, 0)
	return session
}

// reports tells what the router says about a session.
func (s *spot) reports(mac, session string, kind telemetry.Kind, cause rfc2866.AcctTerminateCause) {
	r := telemetry.Report{
		Kind: kind, Org: s.org, Device: s.router, Session: session, MAC: mac, At: s.clock.Now(), Cause: uint32(cause),
	}
	s.dir.Heard(r)
	one := &telemetry.Session{
		ID: telemetry.SessionID(s.subscription), OrgID: s.org, DeviceID: s.router, SubscriptionID: s.subscription,
		SessionKey: session, MAC: mac, Calling: mac, StartedAt: r.At, UpdatedAt: r.At,
	}
	copy(one.ID[:], fmt.Sprintf("%16s", session))
	if kind == telemetry.Stop {
		one.EndedAt = &r.At
	}
	s.kit.sessions.Observe(telemetry.Committed{Sessions: []*telemetry.Session{one}})
}

// back is a sign-in of the phone by its MAC.
func (s *spot) back() *layeh.Packet {
	p, _ := s.within(hotspot(phone, phone, ""))
	return p
}

// stays checks that the phone may not sign in by its MAC.
func (s *spot) stays(what string) {
	s.t.Helper()
	if got := s.ask(s.back()); got.Code != layeh.CodeAccessReject {
		s.t.Errorf("%s: %v", what, got.Code)
	}
}

// returns checks that the phone may.
func (s *spot) returns(what string) {
	s.t.Helper()
	if got := s.ask(s.back()); got.Code != layeh.CodeAccessAccept {
		s.t.Errorf("%s: %v %s", what, got.Code, rfc2865.ReplyMessage_GetString(got))
	}
}

// TestGuests_ComeBackAfterTheEndOfTheirSession whoever ended it, but for themselves, and for a short time.
func TestGuests_ComeBackAfterTheEndOfTheirSession(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	s.stays("nothing was proven")
	session := s.begins(phone, "amina", "pw")
	s.stays("it is online")
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
	s.clock.Advance(10*time.Minute - time.Second)
	s.returns("its session was ended")
	s.returns("the answer was lost")
	s.clock.Advance(time.Second)
	s.stays("no session followed, so the time did not begin anew")

	session = s.begins(phone, "amina", "pw")
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_IdleTimeout)
	for range 3 { // a session of its own begins the time anew
		s.clock.Advance(9 * time.Minute)
		session = s.begins(phone, phone, "")
		s.stays("it is online again")
		s.reports(phone, "other", telemetry.Stop, rfc2866.AcctTerminateCause_Value_IdleTimeout)
		s.stays("another session ended")
		s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_IdleTimeout)
	}
	session = s.begins(phone, phone, "")
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_UserRequest)
	s.stays("it has signed out")
}

// TestGuests_ComeBackBeforeTheEndOfTheirSessionIsReported: the platform knows that it puts them off, and when their
// time is over.
func TestGuests_ComeBackBeforeTheEndOfTheirSessionIsReported(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	session := s.begins(phone, "amina", "pw")
	one := telemetry.Session{OrgID: s.org, DeviceID: s.router, SessionKey: "other", MAC: phone}
	s.dir.PutOff(one)
	s.stays("another session is put off")
	one.SessionKey = session
	s.dir.PutOff(one)
	s.returns("it is put off")
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset) // late

	s.clock.Advance(time.Hour)
	s.begins(phone, "amina", "pw")
	s.clock.Set(noon.AddDate(0, 1, 0).Add(-2 * time.Second))
	s.stays("its time is not over")
	s.clock.Advance(2 * time.Second)
	s.apply(s.paid(noon.AddDate(0, 2, 0))...)
	s.returns("its time is over")
	s.clock.Advance(5 * time.Minute)
	s.returns("the answer was lost")
	s.clock.Advance(5 * time.Minute)
	s.stays("it was over a while ago")

	s = newSpot(t, 1)
	s.begins(phone, "amina", "pw")
	s.clock.Set(noon.AddDate(0, 1, 0).Add(10 * time.Minute))
	s.apply(s.paid(noon.AddDate(0, 2, 0))...)
	s.stays("its time was over ten minutes ago")
}

// TestGuests_OfASessionThatNeverBeganDoNotComeBack: neither its time nor its router ends it.
func TestGuests_OfASessionThatNeverBeganDoNotComeBack(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	p, _ := s.within(hotspot(phone, "amina", "pw"))
	s.accepted(p)
	s.clock.Advance(time.Minute)
	s.restarts(s.router)
	s.stays("its router has restarted")
	s.clock.Set(noon.AddDate(0, 1, 0).Add(time.Second))
	s.apply(s.paid(noon.AddDate(0, 2, 0))...)
	s.stays("its time is over")
}

// TestGuests_WhoSignedOutStayOut: also at the time at which their session would have been over.
func TestGuests_WhoSignedOutStayOut(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	session := s.begins(phone, "amina", "pw")
	s.clock.Set(noon.AddDate(0, 1, 0).Add(-time.Minute))
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_UserRequest)
	s.clock.Set(noon.AddDate(0, 1, 0).Add(time.Second))
	s.apply(s.paid(noon.AddDate(0, 2, 0))...)
	s.stays("it has signed out")
}

// restarts tells that a router begins to account, which is all that is told of the sessions that it had.
func (s *spot) restarts(router id.Device) {
	s.dir.Heard(telemetry.Report{Kind: telemetry.On, Org: s.org, Device: router, At: s.clock.Now()})
}

// TestGuests_ComeBackAfterARestartOfTheirRouter as after each end, to the sessions that it had.
func TestGuests_ComeBackAfterARestartOfTheirRouter(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	s.begins(phone, "amina", "pw")
	s.clock.Advance(time.Hour)
	s.restarts(id.New[id.Device]())
	s.stays("another router has restarted")
	s.restarts(s.router)
	s.clock.Advance(9 * time.Minute)
	s.begins(phone, phone, "")
	s.stays("it is online again")
	s.clock.Advance(time.Hour)
	s.restarts(s.router)
	s.clock.Advance(9 * time.Minute)
	s.returns("its router has restarted")
	s.clock.Advance(time.Minute)
	s.stays("no session followed, so the time did not begin anew")
}

// TestGuests_AreOfTheLoginThatTheyHaveProven and of nothing else.
func TestGuests_AreOfTheLoginThatTheyHaveProven(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(s *spot){
		"another password": func(s *spot) { s.login("amina", s.safe.put("next")) },
		"a password that is awaited": func(s *spot) {
			s.login("amina", id.New[id.Secret]())
		},
		"another name":            func(s *spot) { s.login("amina2", s.safe.put("pw")) },
		"it has ended":            func(s *spot) { s.apply(events.SubscriptionEnded{SubscriptionID: s.subscription}) },
		"the person is unknown":   func(s *spot) { s.apply(events.SubscriberForgotten{SubscriberID: s.subscriber}) },
		"the customer is blocked": func(s *spot) { s.apply(events.SubscriberBlocked{SubscriberID: s.subscriber}) },
		"other devices alone":     func(s *spot) { s.apply(s.has(laptop)) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newSpot(t, 1)
			session := s.begins(phone, "amina", "pw")
			s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
			change(s)
			s.stays(what)
		})
	}
}

// login gives the customer another login.
func (s *spot) login(name string, ref id.Secret) {
	s.apply(events.SubscriptionCredentialsSet{
		SubscriptionID: s.subscription, SubscriberID: s.subscriber, Username: personal.Of(name), PasswordRef: ref,
		At: noon,
	})
}

// TestGuests_AreOfTheirHotspotAlone: another organization, another router, a line.
func TestGuests_AreOfTheirHotspotAlone(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	s.accepted(line("amina", "pw"))
	session := s.begins(phone, "amina", "pw")
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
	p := request(phone, "")
	_ = rfc2865.CallingStationID_SetString(p, phone)
	s.refused(p, directory.CodeUnknownUser)
	mac, _ := radius.ParseMAC([]byte(phone))
	asks := &radius.Request{
		UserName: []byte(phone), MAC: mac, MACLogin: true, Service: radius.ServiceHotspot, At: s.clock.Now(),
	}
	own := radius.NAS{Org: s.org, ID: s.router}
	for what, nas := range map[string]radius.NAS{
		"another router":       {Org: s.org, ID: id.New[id.Device]()},
		"another organization": {Org: id.New[id.Organization](), ID: s.router},
	} {
		if s.dir.Find(&nas, asks) != nil {
			t.Errorf("%s knows the phone", what)
		}
	}
	if s.dir.Find(&own, asks) == nil {
		t.Error("the own router does not")
	}
}

// TestGuests_BelongToWhatWasProvenLast: the password of another subscription, or a voucher.
func TestGuests_BelongToWhatWasProvenLast(t *testing.T) {
	t.Parallel()
	safe := newSafe()
	v, history := sell(safe, calendar.Hour, 1)
	other := v.next()
	until := noon.AddDate(0, 1, 0)
	history = append(append(history, v.paid(until)...), other.begin(safe, "127.0.0.1", "omar", "pw-o")[2:]...)
	s := &spot{kit: newKit(t, safe, append(history, other.paid(until)...)...), isp: v.isp}
	first := s.begins(phone, "amina", "pw")
	s.reports(phone, first, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
	second := s.begins(phone, "omar", "pw-o")
	s.reports(phone, first, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
	s.stays("the other session goes on")
	s.reports(phone, second, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
	answer, _ := s.accepted(s.back())
	if who, _, _ := directory.ReadClass([]byte("key"), rfc2865.Class_Get(answer)); who != other.subscription {
		t.Error("it comes back for another subscription")
	}
	s.owns(v.org, device(phone), other.subscription)
	s.apply(events.SubscriptionEnded{SubscriptionID: other.subscription})
	s.stays("that subscription has ended")

	first = s.begins(phone, "amina", "pw")
	s.reports(phone, first, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
	s.accepted(typed(phone, v.codes[0]))
	s.apply(events.VoucherVoided{VoucherSubject: v.subject(0), At: s.clock.Now()})
	s.stays("the voucher is void")
}

// TestGuests_HaveTheVoucherThatGivesMore than the subscription whose password was proven later.
func TestGuests_HaveTheVoucherThatGivesMore(t *testing.T) {
	t.Parallel()
	safe := newSafe()
	v, history := sell(safe, calendar.Hour, 1)
	s := &spot{kit: newKit(t, safe, append(history, v.paid(noon.Add(time.Minute))...)...), isp: v.isp}
	s.accepted(typed(phone, v.codes[0]))
	session := s.begins(phone, "amina", "pw")
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_IdleTimeout)
	ofAmina := func() bool {
		answer, _ := s.accepted(s.back())
		who, _, _ := directory.ReadClass([]byte("key"), rfc2865.Class_Get(answer))
		return who == v.subscription
	}
	if !ofAmina() {
		t.Error("it comes back for a voucher that gives no more")
	}
	s.clock.Advance(time.Minute)
	if ofAmina() {
		t.Error("it comes back for a subscription that gives nothing")
	}
}

// TestGuests_PutNoOtherDeviceOff: two phones of one subscription would do so in turn for ever.
func TestGuests_PutNoOtherDeviceOff(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	session := s.begins(phone, "amina", "pw")
	s.begins(laptop, "amina", "pw")
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
	s.stays("another device is online")

	s = newSpot(t, 1)
	session = s.begins(phone, "amina", "pw")
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
	session = s.begins(laptop, "amina", "pw")
	s.reports(laptop, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
	s.stays("another device has taken its place")

	s = newSpot(t, 2)
	session = s.begins(phone, "amina", "pw")
	s.begins(laptop, "amina", "pw")
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
	s.returns("there is room for two")
	s.reports("02:00:00:00:00:03", "of another hotspot", telemetry.Start, 0)
	s.refused(s.back(), directory.CodeSessionLimit)
}

// TestGuests_StayWhoMadeWayForAnotherDevice: two devices of one customer would end each other in turn. That another
// one has the place is known by its sign-in, or by its session, whichever program ends the other session.
func TestGuests_StayWhoMadeWayForAnotherDevice(t *testing.T) {
	t.Parallel()
	for what, dials := range map[string]func(s *spot){
		"a sign-in": func(s *spot) { s.accepted(line("amina", "pw")) },
		"a session": func(s *spot) {
			s.clock.Advance(time.Second)
			s.reports(laptop, "line", telemetry.Start, 0)
			s.reports(laptop, "line", telemetry.Stop, rfc2866.AcctTerminateCause_Value_IdleTimeout)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newSpot(t, 1)
			session := s.begins(phone, "amina", "pw")
			dials(s)
			s.stays("it makes way")
			s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
			s.stays("it has made way")
			s.begins(phone, "amina", "pw")
		})
	}
}

// TestGuests_MakeNoWayForThemselves: a device that has come back ends its former session, whose end nobody has
// reported, and another device takes the place of a session at another router.
func TestGuests_MakeNoWayForThemselves(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	session := s.begins(phone, "amina", "pw")
	s.dir.PutOff(telemetry.Session{OrgID: s.org, DeviceID: s.router, SessionKey: session, MAC: phone})
	before := s.kit.sessions.Ended()
	session = s.begins(phone, phone, "")
	if n := s.kit.sessions.Ended() - before; n != 1 {
		t.Errorf("%d sessions have to end", n)
	}
	s.dir.MadeWay([]telemetry.LiveSession{
		{OrgID: s.org, DeviceID: id.New[id.Device](), SessionKey: session, MAC: phone},
		{OrgID: s.org, DeviceID: s.router, SessionKey: "former", MAC: phone},
		{OrgID: s.org, DeviceID: s.router, SessionKey: session, MAC: laptop},
	})
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_IdleTimeout)
	s.returns("its last session has ended")
}

// TestGuests_ComeBackOnceForASession: an end that was known is none again at the time at which it would have been over.
func TestGuests_ComeBackOnceForASession(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	session := s.begins(phone, "amina", "pw")
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_IdleTimeout)
	s.apply(s.paid(noon.AddDate(0, 2, 0))...)
	s.clock.Set(noon.AddDate(0, 1, 0).Add(time.Minute))
	s.stays("its session ended a month ago")
}

// TestGuests_ComeBackWhoseSessionNobodyCanName: lists of hotspots tell no Acct-Session-Id.
func TestGuests_ComeBackWhoseSessionNobodyCanName(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	p, _ := s.within(hotspot(phone, "amina", "pw"))
	s.accepted(p) // its reports never come
	s.clock.Advance(10 * time.Minute)
	s.dir.PutOff(telemetry.Session{OrgID: s.org, DeviceID: id.New[id.Device](), MAC: phone})
	s.stays("a session of its MAC at another router is ended")
	s.dir.PutOff(telemetry.Session{OrgID: s.org, DeviceID: s.router, MAC: phone})
	s.returns("the platform has ended its session")
}

// TestGuests_WhoGotNoAnswerTakesNoPlace: a sign-in by MAC counts from its session on.
func TestGuests_WhoGotNoAnswerTakesNoPlace(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 2)
	session := s.begins(phone, "amina", "pw")
	s.begins(laptop, "amina", "pw")
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
	s.returns("there is room")
	s.clock.Advance(10 * time.Second)
	before := s.kit.sessions.Ended()
	s.begins("02:00:00:00:00:03", "amina", "pw")
	if n := s.kit.sessions.Ended() - before; n != 0 {
		t.Errorf("%d sessions have to end although two of two are online", n)
	}
}

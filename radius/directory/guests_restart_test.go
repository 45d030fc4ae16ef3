package directory_test

import (
	"testing"
	"time"

	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

func TestGuests_ASecondRestartBeginsNoNewTime(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	s.begins(phone, "amina", "pw")
	s.clock.Advance(time.Hour)
	s.restarts(s.router)
	s.clock.Advance(11 * time.Minute)
	s.stays("more than 10 minutes after the end of its session")
	for range 40 { // more than are known
		s.clock.Advance(9 * time.Hour)
		for range 20 {
			s.restarts(s.router)
			s.clock.Advance(time.Second)
		}
		s.stays("its session was ended by an earlier restart")
	}
}

func TestGuests_ARestartDoesNotUndoATimeout(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	s.begins(phone, "amina", "pw")
	s.clock.Advance(32 * 24 * time.Hour) // the report of the end is lost
	s.kit.apply(s.paid(s.clock.Now().AddDate(0, 1, 0))...)
	s.stays("its session has timed out")
	s.clock.Advance(24 * time.Hour)
	s.restarts(s.router)
	s.stays("its session had timed out before the restart")
}

func TestGuests_WhoseSessionIsReportedAfterARestartAreOnline(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	session := s.begins(phone, "amina", "pw")
	s.clock.Advance(time.Hour)
	s.restarts(s.router)
	s.clock.Advance(2 * time.Minute)
	s.reports(phone, session, telemetry.Interim, 0)
	before := s.kit.sessions.Ended()
	s.stays("its session goes on")
	if n := s.kit.sessions.Ended() - before; n != 0 {
		t.Errorf("%d sessions of the owner have to end for another device with its MAC", n)
	}
	s.clock.Advance(time.Minute)
	s.restarts(s.router)
	s.returns("its router has restarted after the report")
}

// TestGuests_ADeviceThatIsTakenAwayProvesThePasswordAgain: it was a guest before it was registered.
func TestGuests_ADeviceThatIsTakenAwayProvesThePasswordAgain(t *testing.T) {
	t.Parallel()
	safe, i := newSafe(), newISP()
	i.terms.Kind = "hotspot"
	paid := i.paid(noon.AddDate(1, 0, 0))
	s := &spot{kit: newKit(t, safe, append(i.begin(safe, "127.0.0.1", "amina", "pw"), paid...)...), isp: i}
	s.begins(phone, "amina", "pw")
	s.clock.Advance(time.Hour)
	s.restarts(s.router)
	s.clock.Advance(time.Hour)
	devices := events.SubscriptionAddressesAssigned{SubscriptionID: s.subscription, SubscriberID: s.subscriber}
	none := devices
	devices.MACAddresses = []personal.Text{personal.Of(phone)}
	s.kit.apply(devices)
	session := s.begins(phone, phone, "")
	s.clock.Advance(24 * time.Hour)
	s.kit.apply(none)
	s.reports(phone, session, telemetry.Stop, rfc2866.AcctTerminateCause_Value_AdminReset)
	s.stays("it was taken away")
	s.restarts(s.router)
	s.stays("it was taken away")
	s.begins(phone, "amina", "pw")
	s.clock.Advance(time.Hour)
	s.restarts(s.router)
	s.returns("it has proven the password since")
}

// TestGuests_TwoRestartsWithinAMinuteBothEndSessions: the power comes back, goes, and comes back. The phone was in
// between.
func TestGuests_TwoRestartsWithinAMinuteBothEndSessions(t *testing.T) {
	t.Parallel()
	s := newSpot(t, 1)
	for range 2 {
		s.begins(phone, "amina", "pw")
		s.clock.Advance(time.Hour)
		s.restarts(s.router)
		s.clock.Advance(15 * time.Second)
		s.restarts(s.router)
		s.clock.Advance(10 * time.Second)
		s.begins(phone, phone, "")
		s.clock.Advance(20 * time.Second)
		s.restarts(s.router)
		s.clock.Advance(10 * time.Second)
		s.returns("its router has restarted again")
		s.clock.Advance(24 * time.Hour)
		s.stays("its session ended a day ago")
		s.restarts(s.router)
		s.stays("its session ended a day ago, by an earlier restart")
	}
}

// TestGuests_RestartsWithoutPauseBeginNoNewTime: no more of them are kept than tell that ten minutes have passed.
func TestGuests_RestartsWithoutPauseBeginNoNewTime(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{time.Second, 29 * time.Second, 31 * time.Second, time.Minute} {
		s := newSpot(t, 1)
		s.begins(phone, "amina", "pw")
		s.clock.Advance(time.Hour)
		for range time.Hour / every {
			s.restarts(s.router)
			s.clock.Advance(every)
		}
		s.stays("its session was ended by the first restart")
	}
}

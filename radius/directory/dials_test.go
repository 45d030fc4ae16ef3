package directory_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// dialer is a customer who dials, and what is told of it.
type dialer struct {
	*kit
	isp
}

// newDialer has paid.
func newDialer(t *testing.T) dialer {
	t.Helper()
	s, i := newSafe(), newISP()
	return dialer{newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.AddDate(0, 1, 0))...)...), i}
}

// dial signs a device in, with the name that the router gives the session; "" = none. It gives the Class.
func (d dialer) dial(mac, session string) []byte {
	d.t.Helper()
	p := request("amina", "pw")
	_ = rfc2865.CallingStationID_SetString(p, mac)
	if session != "" {
		_ = rfc2866.AcctSessionID_SetString(p, session)
	}
	answer, _ := d.accepted(p)
	return rfc2865.Class_Get(answer)
}

// reports reports the start of a device's session.
func (d dialer) reports(mac string, class []byte) {
	d.dir.Heard(telemetry.Report{
		Kind: telemetry.Start, Org: d.org, Device: d.router, User: "amina", Calling: mac, MAC: mac, Class: class,
		At: d.clock.Now(),
	})
}

// told gives what was counted since the last call: whose, what, how often, and the latest after noon.
func (d dialer) told() []string {
	var list []string
	for _, r := range d.refusals.Drain() {
		whose := "customer"
		if r.SubscriberID.IsZero() && r.SubscriptionID.IsZero() {
			whose = "router"
		}
		if r.OrgID != d.org || r.DeviceID != d.router || r.FirstAt.After(r.At) ||
			whose == "customer" && (r.SubscriberID != d.subscriber || r.SubscriptionID != d.subscription) {
			d.t.Errorf("told of somebody else: %+v", r)
		}
		list = append(list, fmt.Sprintf("%s %s %d at %s", whose, r.Code, r.Count, r.At.Sub(noon)))
	}
	slices.Sort(list)
	return list
}

// want compares what was counted.
func (d dialer) want(what string, want ...string) {
	d.t.Helper()
	if got := d.told(); !slices.Equal(got, want) {
		d.t.Errorf("%s: told %q, want %q", what, got, want)
	}
}

func TestDials_ADeviceThatDialsInVainIsCountedAndProvesNoLine(t *testing.T) {
	t.Parallel()
	d := newDialer(t)
	for i := range 4 {
		d.dial(phone, fmt.Sprint("dial", i))
		d.clock.Advance(30 * time.Second)
	}
	d.want("four dials", "customer no_session 3 at 1m0s", "router no_session 3 at 1m30s")
	d.clock.Advance(2 * time.Minute)
	d.want("given up")
	class := d.dial(phone, "dial again")
	d.reports(phone, class)
	d.want("online", "router accepted 1 at 4m0s")
	d.clock.Advance(90 * time.Second)
	d.dial(phone, "after a session")
	d.want("dials after a session")
}

func TestDials_WhoDoesNotDialAgainHasALine(t *testing.T) {
	t.Parallel()
	d := newDialer(t)
	d.dial(phone, "")
	d.clock.Advance(119 * time.Second)
	d.want("awaited")
	d.clock.Advance(time.Second)
	d.want("two minutes later", "router accepted 1 at 2m0s")
	d.dial(phone, "")
	d.clock.Advance(130 * time.Second)
	d.dial(phone, "") // before anybody has looked
	d.want("dials again later", "router accepted 1 at 4m10s")
	d.clock.Advance(20 * time.Minute) // somebody has moved it
	d.want("the clock was moved")
	d.dial(phone, "")
	d.clock.Set(noon)
	d.want("the clock was put back")
}

func TestDials_RepeatsAndOtherDevicesAreNotASecondDial(t *testing.T) {
	t.Parallel()
	d := newDialer(t)
	d.dial(phone, "same")
	d.dial(phone, "same")
	d.dial(laptop, "another")
	d.want("awaited")
	d.clock.Advance(time.Minute)
	d.reports(laptop, nil)
	d.want("one is reported", "router accepted 1 at 1m0s")
	d.dial(phone, "next")
	d.want("the other one is not", "customer no_session 1 at 0s", "router no_session 1 at 1m0s")
}

func TestDials_OfAVoucherAreCountedOfTheRouter(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Day, 1)
	d := dialer{newKit(t, s, history...), v.isp}
	var answer *layeh.Packet
	for range 2 {
		answer, _ = d.accepted(typed(phone, v.codes[0]))
		d.clock.Advance(time.Minute)
	}
	d.want("in vain", "router no_session 1 at 1m0s")
	d.reports(phone, rfc2865.Class_Get(answer))
	d.want("online", "router accepted 1 at 2m0s")
}

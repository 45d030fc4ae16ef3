package handset_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

func TestSignIn_EveryMethodIsVerifiedAndToldApart(t *testing.T) {
	t.Parallel()
	for _, legacy := range []bool{false, true} {
		k := start(t, nil, func(c *handset.Config) { c.Legacy = legacy })
		for name, c := range map[string]handset.Customer{
			"pap": {Method: handset.PAP}, "chap": {Method: handset.CHAP}, "mschap": {Method: handset.MSCHAP},
			"mschapv2": {Method: handset.MSCHAPv2, Server: "isp", Interface: "vlan7"},
			"hpap":     {Method: handset.PAP, Service: handset.Hotspot},
			"hchap":    {Method: handset.CHAP, Service: handset.Hotspot},
		} {
			c.Name = name
			s := k.online(c)
			k.isp.mu.Lock()
			got := k.isp.asked[name]
			k.isp.mu.Unlock()
			want := asked{
				Service: "pppoe", Method: c.Method, Called: "service1", Port: "ether2", Session: s.ID,
				Identifier: "handset",
			}
			if c.Service == handset.Hotspot {
				want.Service, want.Called, want.HostIP = "hotspot", "hotspot1", true
			}
			if c.Server != "" {
				want.Called, want.Port = c.Server, c.Interface
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			c.Password = "wrong"
			if r := k.signIn(c); r.Outcome != handset.Rejected || r.Message != "Wrong name or password" {
				t.Errorf("%s with a wrong password: %+v", name, r)
			}
			if start := k.next(radius.StatusStart); start.SessionID != s.ID || start.FramedIP.String() != s.Address ||
				start.NASPort != s.NASPort {
				t.Errorf("start %+v of session %+v", start, s)
			}
		}
		if st := k.Statistics(); st.Accepted != 6 || st.Rejected != 6 || st.Online != 6 || st.BadReplies != 0 {
			t.Errorf("%+v", st)
		}
	}
}

func TestSignIn_AMACSignsADeviceIn(t *testing.T) {
	t.Parallel()
	k := start(t, nil, nil)
	mac := "A4:17:31:41:CB:B6"
	s := k.online(handset.Customer{Service: handset.Hotspot, Method: handset.MACLogin, MAC: mac})
	k.next(radius.StatusStart)
	k.isp.mu.Lock()
	defer k.isp.mu.Unlock()
	if got := k.isp.asked[mac]; !got.MACLogin || s.User != mac || s.ID[:3] != "800" {
		t.Errorf("%+v, session %+v", got, s)
	}
}

func TestSignIn_TheAnswerShapesTheSession(t *testing.T) {
	t.Parallel()
	k := start(t, func(_ string, r *radius.Reply) {
		r.Accept(radius.Attributes{}.MikroTik(8, "5M/10M 8M/16M 4M/8M 10/10 8 1M/2M").
			MikroTik(19, "walled-garden").Octets(25, []byte("c1")).Number(27, 3600).Number(85, 300))
	}, nil)
	s := k.online(handset.Customer{Name: "jane"})
	ends := noon.Add(time.Hour)
	want := handset.Session{
		ID: "81000001", NASPort: 0x81000001, Service: "pppoe", User: "jane", MAC: s.MAC, Server: "service1",
		Interface: "ether2", Address: "100.64.0.1", AddressList: "walled-garden",
		RateLimit: "5M/10M 8M/16M 4M/8M 10/10 8 1M/2M", Class: "6331", StartedAt: noon, InterimSeconds: 300,
		EndsAt: &ends, InPerSecond: 625_000, OutPerSecond: 1_250_000,
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r := k.next(radius.StatusStart); string(r.Class) != "c1" {
		t.Errorf("class %q", r.Class)
	}
}

// A server that is silent is asked three times with the same octets, by the clock of the NAS, and then given up.
func TestSignIn_ASilentServerIsAskedThreeTimes(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenUDP("udp", &net.UDPAddr{IP: localhost.AsSlice()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	k := start(t, nil, func(c *handset.Config) { c.Server = silent.LocalAddr().(*net.UDPAddr).AddrPort() })
	done := make(chan handset.Result, 1)
	go func() { done <- k.signIn(handset.Customer{Name: "jane", Method: handset.CHAP}) }()
	var first []byte
	for i := range 3 {
		buffer := make([]byte, 4096)
		if err := silent.SetReadDeadline(time.Now().Add(waittest.Limit)); err != nil {
			t.Fatal(err)
		}
		size, from, err := silent.ReadFromUDP(buffer)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = buffer[:size]
			forged := append([]byte{2, first[1], 0, 20}, make([]byte, 16)...)
			if _, err := silent.WriteToUDP(forged, from); err != nil { // an accept without the secret
				t.Fatal(err)
			}
			k.untilBad() // read while the request is still under way, not when it was given up
		}
		if diff := cmp.Diff(first, buffer[:size]); diff != "" {
			t.Errorf("repeat %d differs:\n%s", i, diff)
		}
		k.untilWaiting()
		k.clock.Advance(3 * time.Second)
	}
	if r := <-done; r.Outcome != handset.Unanswered {
		t.Errorf("%+v", r)
	}
	if st := k.Statistics(); st.Repeated != 2 || st.Unanswered != 1 || st.BadReplies != 1 || st.Online != 0 {
		t.Errorf("%+v", st)
	}
}

func TestSignIn_ImpossibleCustomersAndEndedOnesAreErrors(t *testing.T) {
	t.Parallel()
	k := start(t, nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.SignIn(ctx, handset.Customer{Name: "kim"}); err == nil {
		t.Error("a sign-in outlives its context")
	}
	for _, c := range []handset.Customer{
		{}, {Name: "x", Service: "sstp"}, {Name: "x", Service: handset.Hotspot, Method: handset.MSCHAP},
		{Name: "x", Load: 2}, {Name: "x", Address: "nowhere"}, {Name: "x", Method: "eap"},
	} {
		if _, err := k.SignIn(t.Context(), c); err == nil {
			t.Errorf("%+v is possible", c)
		}
	}
}

func TestSignInAll_ThousandsShareFewSockets(t *testing.T) {
	t.Parallel()
	k := start(t, nil, func(c *handset.Config) { c.Clock = nil })
	var list []handset.Customer
	for i := range 3000 {
		name := "c" + string(rune('a'+i%26)) + time.Duration(i).String()
		list = append(list, handset.Customer{Name: name, Password: "pw-" + name, Method: handset.PAP})
	}
	counts := map[handset.Outcome]int{}
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	err := k.SignInAll(ctx, list, handset.Pace{}, func(_ handset.Customer, r handset.Result) { counts[r.Outcome]++ })
	if err != nil || counts[handset.Accepted] != 3000 {
		t.Fatalf("%v: %v", counts, err)
	}
	if err := k.Idle(ctx); err != nil {
		t.Fatal(err)
	}
	st := k.Statistics()
	if st.Online != 3000 || st.Reports != 3000 || st.P50 <= 0 || st.P99 < st.P50 {
		t.Errorf("%+v", st)
	}
	if n := k.SignOutAll(handset.UserRequest); n != 3000 {
		t.Errorf("%d signed out", n)
	}
	if err := k.Idle(ctx); err != nil {
		t.Fatal(err)
	}
	if st := k.Statistics(); st.Online != 0 || st.Reports != 6000 {
		t.Errorf("%+v", st)
	}
}

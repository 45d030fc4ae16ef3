package handset_test

import (
	"crypto/hmac"
	"crypto/md5"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"

	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// careless is a server that accepts everybody without knowing any password. It gives its answers a
// Message-Authenticator in the place that the user's name says: "first", "last", "wrong" (first, and not valid) or
// none.
func careless(t *testing.T) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: localhost.AsSlice()})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		defer close(done)
		buffer := make([]byte, 4096)
		for {
			size, from, err := conn.ReadFromUDP(buffer)
			if err != nil {
				return
			}
			if p, err := layeh.Parse(buffer[:size], secret); err == nil {
				_, _ = conn.WriteToUDP(accept(p), from)
			}
		}
	}()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

// accept is the careless server's answer.
func accept(p *layeh.Packet) []byte {
	answer, place := p.Response(layeh.CodeAccessAccept), -1
	name := rfc2865.UserName_GetString(p)
	if name == "first" || name == "wrong" {
		place = 0
		answer.Add(rfc2869.MessageAuthenticator_Type, make([]byte, 16))
	}
	answer.Add(rfc2865.ReplyMessage_Type, layeh.Attribute("welcome"))
	if name == "last" {
		place = 1
		answer.Add(rfc2869.MessageAuthenticator_Type, make([]byte, 16))
	}
	if unsigned, err := answer.MarshalBinary(); err == nil && place >= 0 && name != "wrong" {
		sum := hmac.New(md5.New, secret)
		sum.Write(unsigned)
		answer.Attributes[place].Attribute = sum.Sum(nil)
	}
	octets, _ := answer.Encode() // of a known code, and short
	return octets
}

// A router since 7.15 passes over answers that do not begin with a valid Message-Authenticator; an older one takes them
// unless it is wrong.
func TestAnswers_TheMessageAuthenticatorCounts(t *testing.T) {
	t.Parallel()
	for legacy, taken := range map[bool]map[string]bool{
		false: {"first": true, "last": false, "wrong": false, "none": false},
		true:  {"first": true, "last": true, "wrong": false, "none": true},
	} {
		for name, ok := range taken {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				k := start(t, nil, func(c *handset.Config) { c.Server, c.Legacy, c.Tries = careless(t), legacy, 1 })
				done := make(chan handset.Result, 1)
				go func() { done <- k.signIn(handset.Customer{Name: name, Method: handset.PAP}) }()
				if !ok {
					k.untilBad()
					k.untilWaiting()
					k.clock.Advance(3 * time.Second)
				}
				if r := <-done; (r.Outcome == handset.Accepted) != ok || ok && r.Message != "welcome" {
					t.Errorf("legacy %v: %+v", legacy, r)
				}
			})
		}
	}
}

// MS-CHAPv2 proves both sides: a device hangs up on a server that does not know its password.
func TestAnswers_AServerThatDoesNotKnowThePasswordIsDistrusted(t *testing.T) {
	t.Parallel()
	k := start(t, nil, func(c *handset.Config) { c.Server = careless(t) })
	for method, want := range map[string]handset.Outcome{
		handset.MSCHAPv2: handset.Distrusted, handset.CHAP: handset.Accepted,
	} {
		if r := k.signIn(handset.Customer{Name: "first", Method: method}); r.Outcome != want {
			t.Errorf("%s: %+v", method, r)
		}
	}
}

// The accept names what a router may not have.
func TestAnswers_ARouterCannotDoEverything(t *testing.T) {
	t.Parallel()
	k := start(t, func(user string, r *radius.Reply) {
		switch r.Accept(nil); user {
		case "pool":
			r.Append(radius.Attributes{}.Text(88, "p2"))
		case "absent":
			r.Append(radius.Attributes{}.Text(88, "p3"))
		case "rate":
			r.Append(radius.Attributes{}.MikroTik(8, "fast"))
		case "static":
			r.Append(radius.Attributes{}.Address(8, netip.MustParseAddr("10.7.7.7")))
		case "profile":
			r.Append(radius.Attributes{}.Address(8, netip.MustParseAddr("255.255.255.254")))
		}
	}, func(c *handset.Config) {
		c.Pools = map[string]netip.Prefix{
			"": netip.MustParsePrefix("10.1.0.0/29"), "p2": netip.MustParsePrefix("10.2.0.0/24"),
		}
	})
	for user, want := range map[string]string{
		"pool": "10.2.0.1", "absent": "", "rate": "", "static": "10.7.7.7", "profile": "10.1.0.",
	} {
		r := k.signIn(handset.Customer{Name: user, Method: handset.PAP})
		if want == "" {
			if r.Outcome != handset.Unfit || r.Message == "" {
				t.Errorf("%s: %+v", user, r)
			}
			continue
		}
		if r.Session == nil || !strings.HasPrefix(r.Session.Address, want) {
			t.Errorf("%s: %+v", user, r)
		}
	}
}

package routeros_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// bothWays runs a test over REST and over the API protocol of one release.
func bothWays(t *testing.T, test func(t *testing.T, k *kit)) {
	t.Helper()
	for name, port := range map[string]uint16{
		"rest": routeros.PortHTTP, "api": routeros.PortAPI, "rest tls": routeros.PortHTTPS,
		"api tls": routeros.PortAPITLS,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newKit(t, "7.16", port))
		})
	}
}

func TestSpeech_IsFoundAndKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version string
		port    uint16
		want    routeros.Speech
	}{
		{"6.49.10", 80, routeros.API}, {"7.6", 80, routeros.API}, {"7.16", 80, routeros.REST}, {
			"7.23.7", 80, routeros.REST,
		},
		{"6.49.10", 443, routeros.APITLS}, {"7.6", 443, routeros.REST}, {"7.16", 8728, routeros.API},
		{"7.23.7", 8729, routeros.APITLS},
	} {
		k := newKit(t, c.version, c.port)
		// the first call is a write: it must not be the probe
		k.add("ip/pool", props{"name": "p", "ranges": "10.0.0.1"})
		if got := k.device().Speaks(); got != c.want {
			t.Errorf("%s at %d speaks %q", c.version, c.port, got)
		}
		k.target.Speaks = c.want
		if k.print("ip/pool", routeros.Query{Where: props{"name": "p"}}); k.device().Speaks() != c.want {
			t.Errorf("%s at %d forgot", c.version, c.port)
		}
	}
}

func TestSpeech_AnUpgradedRouterIsFoundAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16", routeros.PortHTTP)
	k.target.Speaks = routeros.API
	if _, err := k.router.Do("ip/service", "set", props{"numbers": "api,api-ssl", "disabled": "yes"}); err != nil {
		t.Fatal(err)
	}
	k.print("system/resource", routeros.Query{})
	if got := k.device().Speaks(); got != routeros.REST {
		t.Errorf("speaks %q", got)
	}
}

func TestLostReply_SaysThatTheWriteMayHaveBeenApplied(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, k *kit) {
		k.print("system/resource", routeros.Query{})
		k.router.SetFaults(router.Faults{LoseReplyAfterWrites: router.After(0)})
		_, err := k.device().Add(t.Context(), "ip/pool", props{"name": "p", "ranges": "10.0.0.1"})
		if !routeros.MayHaveApplied(err) || !isUnreachable(err) ||
			failure.CodeOf(err) != "device_unreachable" {
			t.Errorf("lost reply: %v", err)
		}
		if got := k.print("ip/pool", routeros.Query{Where: props{"name": "p"}}); len(got) != 1 {
			t.Errorf("pools: %v", got)
		}
		if k.router.Writes() != 1 {
			t.Errorf("%d writes", k.router.Writes())
		}
	})
}

func TestDroppedConnection_IsNeverRepeated(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, k *kit) {
		k.print("system/resource", routeros.Query{})
		k.router.SetFaults(router.Faults{DropAfterWrites: router.After(1)})
		k.add("ip/pool", props{"name": "p1", "ranges": "10.0.0.1"})
		if _, err := k.device().Add(t.Context(), "ip/pool",
			props{"name": "p2", "ranges": "10.0.0.1"}); !isUnreachable(err) {
			t.Errorf("dropped: %v", err)
		}
		k.router.SetFaults(router.Faults{})
		if got := k.print("ip/pool", routeros.Query{Where: props{"name": "p2"}}); len(got) != 0 {
			t.Errorf("p2 was applied: %v", got)
		}
	})
}

func TestKeptConnection_SurvivesAReboot(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, k *kit) {
		k.add("ip/pool", props{"name": "p1", "ranges": "10.0.0.1"})
		k.router.Reboot()
		k.print("ip/pool", routeros.Query{})
		k.router.Reboot()
		k.add("ip/pool", props{"name": "p2", "ranges": "10.0.0.1"})
		if k.router.Connections() != 1 {
			t.Errorf("%d connections", k.router.Connections())
		}
	})
}

func TestReboot_ALostReplyIsASuccess(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, k *kit) {
		for range 3 { // the simulator answers every other time
			k.clock.Advance(time.Hour)
			if err := k.device().Reboot(t.Context()); err != nil {
				t.Fatal(err)
			}
			if up := k.print("system/resource", routeros.Query{})[0]["uptime"]; up != "0s" {
				t.Errorf("uptime %s", up)
			}
		}
	})
}

func TestUnreachable_OpensTheBreakerAndRefusalsDoNot(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, k *kit) {
		k.router.SetFaults(router.Faults{Refuse: true})
		for range 5 {
			_, err := k.device().Print(t.Context(), "system/resource", routeros.Query{})
			if !isUnreachable(err) || routeros.MayHaveApplied(err) {
				t.Fatalf("unplugged: %v", err)
			}
		}
		if s := k.breakers.States(); len(s) != 1 || s[0].State != breaker.Open || s[0].Kind != routeros.BreakerKind ||
			s[0].Target != "device-1" {
			t.Errorf("breaker: %+v", s)
		}
		k.router.SetFaults(router.Faults{})
		k.clock.Advance(time.Minute)
		k.print("system/resource", routeros.Query{})
		k.router.SetFaults(router.Faults{Unauthorized: true})
		k.gateway.Forget("device-1")
		for range 6 {
			if _, err := k.device().Print(t.Context(), "system/resource",
				routeros.Query{}); !errors.Is(err, routeros.ErrUnauthorised) ||
				failure.CodeOf(err) != "router_unauthorised" {
				t.Fatalf("wrong credentials: %v", err)
			}
		}
		if s := k.breakers.States(); s[0].State != breaker.Closed {
			t.Errorf("breaker: %+v", s)
		}
	})
}

// A way that is cut shows only on a new connection: one that is open goes on.
func TestForget_TheNextCallNeedsANewConnection(t *testing.T) {
	t.Parallel()
	for port, service := range map[uint16]string{
		routeros.PortHTTP: "www", routeros.PortHTTPS: "www-ssl", routeros.PortAPI: "api",
		routeros.PortAPITLS: "api-ssl",
	} {
		k := newKit(t, "7.16", port)
		k.print("system/resource", routeros.Query{})
		k.target.Speaks = k.device().Speaks()
		for _, one := range []string{"www", "www-ssl", "api", "api-ssl"} {
			if _, err := k.router.Do("ip/service", "set",
				props{"numbers": one, "address": "192.0.2.0/24"}); err != nil {
				t.Fatal(err)
			}
		}
		k.print("system/resource", routeros.Query{})
		k.gateway.Forget(k.target.ID)
		if _, err := k.device().Print(t.Context(), "system/resource", routeros.Query{}); err == nil {
			t.Errorf("%s: the former connection was used again", service)
		}
	}
}

// A router takes few connections: who still holds a forgotten device opens one for each call and keeps none.
func TestForget_WhoStillHoldsTheDeviceKeepsNoConnection(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, k *kit) {
		held := k.device()
		k.gateway.Forget(k.target.ID)
		for range 5 {
			if _, err := held.Print(t.Context(), "system/resource", routeros.Query{}); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
		defer cancel()
		for k.router.Connections() > 0 { // the router notices the end of a connection a moment later
			if ctx.Err() != nil {
				t.Fatalf("%d connections are open", k.router.Connections())
			}
			runtime.Gosched()
		}
	})
}

func TestDeadline_EndsEveryCall(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, k *kit) {
		k.print("system/resource", routeros.Query{})
		k.router.SetFaults(router.Faults{Hang: true})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := k.device().Print(ctx, "system/resource", routeros.Query{}); !isUnreachable(err) {
			t.Errorf("hanging: %v", err)
		}
		k.router.SetFaults(router.Faults{})
		k.print("system/resource", routeros.Query{})
	})
}

func TestIdsRefused_TheCommandFormIsUsedFromThenOn(t *testing.T) {
	t.Parallel()
	for _, port := range []uint16{routeros.PortHTTP, routeros.PortHTTPS} {
		k := newKit(t, "7.16", port)
		k.router.SetFaults(router.Faults{RefuseIDs: true})
		id := k.add("ip/pool", props{"name": "p", "ranges": "10.0.0.1"})
		if err := k.device().Set(t.Context(), "ip/pool", id, props{"ranges": "10.0.0.2"}); err != nil {
			t.Error(err)
		}
		if err := k.device().Remove(t.Context(), "ip/pool", id); err != nil {
			t.Error(err)
		}
		if err := k.device().Remove(t.Context(), "ip/pool", id); !routeros.IsMissing(err) {
			t.Error(err)
		}
	}
}

func TestControlBytes_DoNotSpoilAnAnswer(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, k *kit) {
		k.router.SetFaults(router.Faults{ControlBytes: true})
		got := k.print("interface/bridge", routeros.Query{Props: []string{"comment"}})
		if got[0]["comment"] != "defconf\uFFFD\uFFFD café" {
			t.Errorf("comment %q", got[0]["comment"])
		}
	})
}

func TestConnections_AreFewAndReused(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, k *kit) {
		var work sync.WaitGroup
		for range 8 {
			work.Go(func() {
				for range 3 {
					if _, err := k.device().Print(t.Context(), "ppp/active", routeros.Query{}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		work.Wait()
		if n := k.router.Connections(); n < 1 || n > 2 {
			t.Errorf("%d connections", n)
		}
	})
}

func TestAddress_ForbiddenOnesAreNotDialled(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, k *kit) {
		k.target.Address = netip.MustParseAddr("127.0.0.1")
		_, err := k.device().Print(t.Context(), "system/resource", routeros.Query{})
		if failure.CodeOf(err) != "device_address_refused" {
			t.Errorf("loopback: %v", err)
		}
		if s := k.breakers.States(); s[0].Failures != 0 {
			t.Errorf("breaker: %+v", s)
		}
	})
}

func TestMalformedRequests_AreNotSent(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16", routeros.PortHTTP)
	d := k.device()
	_, badMenu := d.Print(t.Context(), "ip/../user", routeros.Query{})
	_, badQuery := d.Print(t.Context(), "ip/pool", routeros.Query{Where: props{"a=b": "c"}})
	_, badCommand := d.Run(t.Context(), "ip/pool", "add?x", nil)
	for name, err := range map[string]error{
		"menu": badMenu, "query": badQuery, "command": badCommand, "id": d.Remove(t.Context(), "ip/pool", "p"),
		"no id": d.Remove(t.Context(), "ip/pool", ""), "set by name": d.Set(t.Context(), "ip/pool", "*1/../2", nil),
		"move": d.Move(t.Context(), "ip/pool", "*1", "x"),
	} {
		if err == nil || routeros.RefusalOf(err) != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if k.router.Connections() != 0 {
		t.Error("something was sent")
	}
}

// answers dials a listener that sends every connection the same bytes, then closes it.
func answers(t *testing.T, text string) routeros.DialFunc {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer conn.Close()
				_, _ = conn.Read(make([]byte, 4096))
				_, _ = io.WriteString(conn, text)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		work.Wait()
	})
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, l.Addr().String())
	}
}

func TestNonsense_IsAnErrorAndNotMemory(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "\xf0\x7f\xff\xff\xff", "\xff\xff", "HTTP/1.1 200 OK\r\n\r\n",
		"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\nOops",
		"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[[1,2,3]]", "\x05!done\x00\x05!done\x00",
		"\x06!fatal\x0enot logged in.\x00", strings.Repeat("\x03!re\x00", 100),
	} {
		for _, port := range []uint16{routeros.PortHTTP, routeros.PortAPI} {
			set := breaker.New(breaker.Config{})
			g, err := routeros.New(routeros.Config{
				Guard: set, Policy: routeros.Anywhere, Dial: answers(t, text), Timeout: 5 * time.Second,
			})
			if err != nil {
				t.Fatal(err)
			}
			d := g.Device(routeros.Target{ID: "x", Address: netip.MustParseAddr("10.99.0.9"), Port: port})
			_, err = d.Add(t.Context(), "ip/pool", props{"name": "x"})
			if err == nil && !strings.HasPrefix(text, "\x05!done") {
				t.Errorf("%q at %d was taken as an answer", text, port)
			}
			g.Close()
		}
	}
}

func TestOnlyWay_RefusingConnectionsIsUnreachableWithItsReason(t *testing.T) {
	t.Parallel()
	for port, service := range map[uint16]string{routeros.PortAPI: "api", routeros.PortAPITLS: "api-ssl"} {
		k := newKit(t, "7.16", port)
		k.print("system/resource", routeros.Query{}) // from here on the only way is known
		k.gateway.Forget(k.target.ID)
		k.target.Speaks = k.device().Speaks()
		if _, err := k.router.Do("ip/service", "set", props{"numbers": service, "disabled": "yes"}); err != nil {
			t.Fatal(err)
		}
		_, err := k.device().Print(t.Context(), "system/resource", routeros.Query{})
		var lost *routeros.Lost
		if !isUnreachable(err) || !errors.As(err, &lost) || lost.Sent || lost.Cause == nil {
			t.Errorf("port %d: %v", port, err)
		}
	}
	if text := (&routeros.Lost{}).Error(); text != "router not reached" {
		t.Errorf("without a cause: %q", text)
	}
}

// A router that accepts connections and never answers has two calls under way and others that wait for their turn. What
// waits until its time is over says nothing about the router, so that five dead answers open the breaker.
func TestBreaker_OpensThoughOtherCallsWait(t *testing.T) {
	t.Parallel()
	k := newKitWith(t, router.RouterConfig{Version: "7.16"}, routeros.PortHTTP,
		routeros.Config{Timeout: 80 * time.Millisecond})
	k.router.SetFaults(router.Faults{Hang: true})
	for range 5 {
		var calls sync.WaitGroup
		for range 6 {
			calls.Go(func() {
				if _, err := k.device().Print(t.Context(), "interface", routeros.Query{}); err == nil {
					t.Error("a dead router answered")
				}
			})
		}
		calls.Wait()
	}
	if got := k.breakers.States()[0]; got.State != breaker.Open {
		t.Errorf("after five dead answers: %+v", got)
	}
}

func TestUnplugged_IsToldAsUnreachable(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16", routeros.PortHTTP)
	k.router.SetPower(false)
	_, err := k.device().Print(t.Context(), "interface", routeros.Query{})
	var lost *routeros.Lost
	if !isUnreachable(err) || !errors.As(err, &lost) || strings.Contains(lost.Error(), "speak") ||
		!strings.HasPrefix(lost.Error(), "router not reached") {
		t.Errorf("%v: %v", err, lost)
	}
}

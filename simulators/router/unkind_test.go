package router_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// refused runs a command that the router must refuse with these words.
func (k *kit) refused(menu, command string, args router.Item, words string) {
	k.t.Helper()
	if _, err := k.Do(menu, command, args); err == nil || !strings.Contains(err.Error(), words) {
		k.t.Errorf("/%s %s %v: %v, not %q", menu, command, args, err, words)
	}
}

func TestSlavePort_TakesNoClientsAndReadsInvalid(t *testing.T) {
	t.Parallel()
	for name, enslave := range map[string]func(k *kit){
		"bridge": func(k *kit) {
			k.do("interface/bridge/port", "add", router.Item{"interface": "ether5", "bridge": "bridge"})
		},
		"bond": func(k *kit) {
			k.do("interface/bonding", "add", router.Item{"name": "bond1", "slaves": "ether4,ether5"})
		},
		"disabled": func(k *kit) { k.do("interface", "disable", router.Item{"numbers": "ether5"}) },
	} {
		k := newKit(t, "7.16").withRADIUS()
		k.do("ip/pool", "add", router.Item{"name": "p", "ranges": "10.50.0.2-10.50.0.9"})
		k.do("ip/address", "add", router.Item{"address": "10.50.0.1/24", "interface": "ether5"})
		k.do("interface/pppoe-server/server", "add", router.Item{
			"service-name": "s", "interface": "ether5", "disabled": "no",
		})
		k.do("ip/hotspot", "add", router.Item{
			"name": "h", "interface": "ether5", "address-pool": "p", "disabled": "no",
		})
		k.do("ip/dhcp-server", "add", router.Item{"name": "d", "interface": "ether5", "address-pool": "p"})
		works := func() (out []string) {
			if _, err := k.Connect(router.Session{
				Kind: "pppoe", User: "u", Server: "s", Address: "10.50.0.7",
			}); err == nil {
				out = append(out, "pppoe")
			}
			if _, err := k.Connect(router.Session{Kind: "hotspot", User: "v", Server: "h"}); err == nil {
				out = append(out, "hotspot")
			}
			if err := k.Lease(router.Lease{Server: "d"}); err == nil {
				out = append(out, "dhcp")
			}
			return out
		}
		if got := works(); len(got) != 3 {
			t.Fatalf("%s: before, only %v work", name, got)
		}
		enslave(k)
		if got := works(); len(got) != 0 {
			t.Errorf("%s: %v still work", name, got)
		}
		for menu, key := range map[string]string{
			"interface/pppoe-server/server": "s", "ip/hotspot": "h", "ip/dhcp-server": "d",
		} {
			if item := k.do(menu, "print", nil); item[len(item)-1]["invalid"] != "true" {
				t.Errorf("%s: %s is valid: %v", name, key, item)
			}
		}
		port := k.only("interface", "name", "ether5")
		if slave := port["slave"] == "true"; slave != (name != "disabled") {
			t.Errorf("%s: %v", name, port)
		}
	}
}

func TestVLAN_OverAPortThatIsOffReadsInactive(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16").withRADIUS()
	k.do("interface/vlan", "add", router.Item{"name": "v", "interface": "ether5", "vlan-id": "7"})
	k.do("interface/pppoe-server/server", "add", router.Item{
		"service-name": "s", "interface": "v", "disabled": "no",
	})
	connect := func() error {
		_, err := k.Connect(router.Session{Kind: "pppoe", User: "u", Server: "s", Address: "10.50.0.7"})
		return err
	}
	if err := connect(); err != nil {
		t.Fatal(err)
	}
	k.do("interface/bridge/port", "add", router.Item{"interface": "ether5", "bridge": "bridge"})
	if err := connect(); err == nil {
		t.Error("a VLAN over the port of a bridge took a client")
	}
	k.do("interface", "disable", router.Item{"numbers": "ether5"})
	if v := k.only("interface", "name", "v"); v["inactive"] != "true" || v["running"] != "false" {
		t.Errorf("VLAN %v", v)
	}
	if port := k.only("interface/bridge/port", "interface", "ether5"); port["inactive"] != "true" {
		t.Errorf("port %v", port)
	}
}

func TestTLS_NeedsACertificateThatIsSignedAndAssigned(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		k := newKit(t, version)
		k.do("ip/service", "set", router.Item{"numbers": "www-ssl", "disabled": "no"})
		if status, body := k.rest("www-ssl", "GET", "/rest/system/identity", ""); status != 0 ||
			!strings.Contains(body, "tls") {
			t.Errorf("%s without a certificate: %d %s", version, status, body)
		}
		if _, err := k.login("api-ssl", "admin", "secret"); err == nil {
			t.Errorf("%s: api-ssl without a certificate took a login", version)
		}
		k.do("certificate", "add", router.Item{"name": "c", "common-name": "c"})
		k.refused("ip/service", "set", router.Item{"numbers": "api-ssl", "certificate": "c"},
			"input does not match any value of certificate") // a template only
		k.do("certificate", "sign", router.Item{"numbers": "c"})
		k.do("ip/service", "set", router.Item{"numbers": "api-ssl", "certificate": "c"})
		if _, err := k.login("api-ssl", "admin", "secret"); err != nil {
			t.Errorf("%s: %v", version, err)
		}
		if c := k.only("certificate", "name", "c"); c["private-key"] != "true" || c["fingerprint"] == "" ||
			c[".id"] != "*2" {
			t.Errorf("%s: %v", version, c)
		}
		k.refused("certificate", "set", router.Item{"numbers": "c", "common-name": "x"}, "can not change")
		k.do("certificate", "remove", router.Item{"numbers": "c"})
		if _, err := k.login("api-ssl", "admin", "secret"); err == nil {
			t.Errorf("%s: api-ssl with a certificate that is gone took a login", version)
		}
	}
}

// How long tests wait: briefly for an answer that must not come, patiently for one that must.
const (
	brief   = 30 * time.Millisecond
	patient = 10 * time.Second
)

// timesOut reports whether a network error is a time limit and neither a reset nor an end.
func timesOut(err error) bool {
	var failed net.Error
	return errors.As(err, &failed) && failed.Timeout()
}

func TestPowerOff_IsSilenceAndNotARefusal(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	dial := func(patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		conn, err := k.sim.Dial(ctx, "tcp", "10.99.0.2:80")
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	open, err := net.Dial("tcp", k.Addr("api"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	answered := func(conn net.Conn, patience time.Duration) error { // asks for a login
		_ = conn.SetDeadline(time.Now().Add(patience))
		if _, err := conn.Write([]byte("\x06/login\x00")); err != nil {
			return err
		}
		_, err := conn.Read(make([]byte, 1))
		return err
	}
	if err := answered(open, patient); err != nil {
		t.Fatal(err)
	}
	k.SetPower(false)
	if err := dial(brief); !timesOut(err) {
		t.Errorf("dial through the tunnel: %v", err)
	}
	fresh, err := net.Dial("tcp", k.Addr("api"))
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	_ = open.SetDeadline(time.Now().Add(brief))
	_, _ = io.Copy(io.Discard, open) // what came before the power went
	for name, conn := range map[string]net.Conn{"open": open, "new": fresh} {
		if err := answered(conn, brief); !timesOut(err) {
			t.Errorf("%s connection: %v", name, err)
		}
	}
	k.SetPower(true)
	if err := answered(open, patient); err == nil || timesOut(err) {
		t.Errorf("a connection from before the power cut: %v", err)
	}
	if err := dial(patient); err != nil {
		t.Error(err)
	}
	k.SetFaults(router.Faults{Refuse: true})
	if err := dial(patient); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the knob for refusals: %v", err)
	}
	k.SetFaults(router.Faults{})
	if _, err := k.sim.Dial(t.Context(), "tcp", "10.99.7.7:80"); !errors.Is(err, syscall.EHOSTUNREACH) {
		t.Errorf("an address without a router: %v", err)
	}
}

func TestPowerOff_ADialWaitsForThePower(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	k.SetPower(false)
	done := make(chan error, 1)
	go func() {
		conn, err := k.sim.Dial(t.Context(), "tcp", "10.99.0.2:80")
		if err == nil {
			_ = conn.Close()
		}
		done <- err
	}()
	k.SetPower(true)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestServicePorts_DoNotCollideAndDecideWhereToDial(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	for _, port := range []string{"8291", "22", "23", "8728", "443"} {
		k.refused("ip/service", "set", router.Item{"numbers": "www", "port": port}, "port is used by another service")
	}
	k.do("ip/service", "set", router.Item{"numbers": "www", "port": "8080"})
	if _, err := k.sim.Dial(t.Context(), "tcp", "10.99.0.2:80"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the old port: %v", err)
	}
	conn, err := k.sim.Dial(t.Context(), "tcp", "10.99.0.2:8080")
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

func TestSession_TakesItsAddressFromThePoolOfItsProfile(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16").withRADIUS()
	k.do("ip/pool", "add", router.Item{"name": "p", "ranges": "10.50.0.2-10.50.0.3"})
	k.do("ppp/profile", "add", router.Item{
		"name": "prof", "local-address": "10.50.0.1", "remote-address": "p", "only-one": "yes",
	})
	k.do("interface/pppoe-server/server", "add", router.Item{
		"service-name": "s", "interface": "ether5", "default-profile": "prof", "disabled": "no",
	})
	connect := func(user, address string) error {
		_, err := k.Connect(router.Session{Kind: "pppoe", User: user, Server: "s", Address: address})
		return err
	}
	for _, user := range []string{"a", "b"} {
		if err := connect(user, ""); err != nil {
			t.Fatal(err)
		}
	}
	if b := k.only("ppp/active", "name", "b"); b["address"] != "10.50.0.3" {
		t.Errorf("session %v", b)
	}
	if local := k.only("ip/address", "network", "10.50.0.3"); local["address"] != "10.50.0.1/32" {
		t.Errorf("address %v", local)
	}
	if err := connect("c", ""); err == nil {
		t.Error("a third session from a pool of two")
	}
	if err := connect("c", "198.51.100.9"); err != nil {
		t.Errorf("a static address from RADIUS: %v", err)
	}
	if err := connect("c", "198.51.100.10"); err == nil {
		t.Error("only-one let a user in twice")
	}
	if row := k.only("interface/pppoe-server", "user", "c"); row["name"] != "<pppoe-c>" || row["service"] != "s" ||
		row["interface"] != "ether5" {
		t.Errorf("binding %v", row)
	}
	k.do("ip/hotspot", "add", router.Item{"name": "h", "interface": "ether4", "disabled": "no"})
	if _, err := k.Connect(router.Session{
		Kind: "hotspot", User: "v", Server: "h", Address: "10.60.0.9",
	}); err == nil {
		t.Error("a hotspot without a network took a customer")
	}
	k.do("ip/address", "add", router.Item{"address": "10.60.0.1/24", "interface": "ether4"})
	if _, err := k.Connect(router.Session{
		Kind: "hotspot", User: "v", Server: "h", Address: "10.60.0.9",
	}); err != nil {
		t.Error(err)
	}
}

func TestSession_NeedsSomebodyWhoChecksThePassword(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	k.do("interface/pppoe-server/server", "add", router.Item{
		"service-name": "s", "interface": "ether5", "disabled": "no",
	})
	connect := func(user string) error {
		_, err := k.Connect(router.Session{Kind: "pppoe", User: user, Server: "s", Address: "10.50.0.7"})
		return err
	}
	for step, change := range []func(){
		func() {},
		func() { k.do("ppp/aaa", "set", router.Item{"use-radius": "yes"}) },
		func() { k.do("radius", "add", router.Item{"service": "hotspot", "address": "10.99.0.1"}) },
	} {
		if change(); connect("jane") == nil {
			t.Errorf("step %d: a session without a check", step)
		}
	}
	k.do("ppp/secret", "add", router.Item{"name": "joe", "password": "x"})
	if err := connect("joe"); err != nil {
		t.Error(err)
	}
	k.do("radius", "set", router.Item{".id": "*1", "service": "ppp,hotspot"})
	if err := connect("jane"); err != nil {
		t.Error(err)
	}
	if joe, jane := k.only("ppp/active", "name", "joe"),
		k.only("ppp/active", "name", "jane"); joe["radius"] != "false" ||
		jane["radius"] != "true" {
		t.Errorf("%v, %v", joe, jane)
	}
}

func TestRefusals_AsRoutersGiveThem(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.6")
	k.refused("ppp/profile", "add", router.Item{"name": "p", "comment": "x"}, "unknown parameter comment")
	k.refused("ip/service", "set", router.Item{"numbers": "www", "comment": "x"}, "unknown parameter comment")
	k.refused("ip/firewall/filter", "add", router.Item{"chain": "input", "out-interface": "ether1"},
		"outgoing interface matching not possible")
	k.refused("ip/firewall/nat", "add", router.Item{
		"chain": "srcnat", "in-interface": "ether1", "action": "masquerade",
	}, "incoming interface matching not possible")
	k.refused("ip/firewall/filter", "add", router.Item{"chain": "input", "dst-port": "80"}, "ports can be specified")
	dummy := k.do("ip/firewall/filter", "print", nil)[0][".id"]
	k.refused("ip/firewall/filter", "add", router.Item{"chain": "input", "place-before": dummy}, "place-before")
	k.refused("ip/firewall/filter", "move", router.Item{"numbers": dummy}, "dynamic")
	k.refused("ip/dhcp-server/network", "add", router.Item{"address": "10.1.0.0/24", "dhcp-option": "o"},
		"dhcp-option")
	k.refused("ip/dhcp-server/option", "add", router.Item{"name": "o", "code": "43", "value": "text"},
		"Unknown data type")
	k.do("ip/dhcp-server/option", "add", router.Item{"name": "o", "code": "43", "value": "0x0103's'"})
	if o := k.only("ip/dhcp-server/option", "name", "o"); o["raw-value"] != "010373" {
		t.Errorf("option %v", o)
	}
	k.do("ip/dhcp-server/network", "add", router.Item{"address": "10.1.0.0/24", "dhcp-option": "o"})
	lease := router.Item{"address": "192.168.88.9", "mac-address": "AA:BB:CC:00:00:01", "server": "defconf"}
	k.do("ip/dhcp-server/lease", "add", lease)
	lease["address"] = "192.168.88.10"
	k.refused("ip/dhcp-server/lease", "add", lease, "already have static lease for this client")
	k.refused("interface/bonding", "add", router.Item{"name": "b", "slaves": "ether2"}, "slaves") // a bridge's port
	old := newKit(t, "6.49.10")
	old.do("ip/dhcp-server", "add", router.Item{"name": "d", "interface": "ether5"})
	if d := old.only("ip/dhcp-server", "name", "d"); d["disabled"] != "true" {
		t.Errorf("6.49 adds a DHCP server enabled: %v", d)
	}
}

// A connection that is open goes on when its service is shut for the address that it comes from; a new one is ended
// before an answer.
func TestService_ShutForNewConnectionsGoesOnOverTheKeptOnes(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	k.SetSeenFrom(netip.MustParseAddr("172.16.0.5"))
	ask := func(conn net.Conn) int {
		request := "GET /rest/system/identity HTTP/1.1\r\nHost: r\r\n" +
			"Authorization: Basic YWRtaW46c2VjcmV0\r\n\r\n" // admin:secret
		if _, err := io.WriteString(conn, request); err != nil {
			return 0
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return 0
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode
	}
	kept := k.dial()
	defer kept.Close()
	if got := ask(kept); got != http.StatusOK {
		t.Fatalf("before: %d", got)
	}
	k.do("ip/service", "set", router.Item{"numbers": "www", "address": "10.99.0.0/16"})
	fresh := k.dial()
	defer fresh.Close()
	if got := ask(fresh); got != 0 {
		t.Errorf("a new connection is answered %d", got)
	}
	if got := ask(kept); got != http.StatusOK {
		t.Errorf("the kept connection is answered %d", got)
	}
}

// dial opens a connection to www over the tunnel's address.
func (k *kit) dial() net.Conn {
	k.t.Helper()
	conn, err := k.sim.Dial(k.t.Context(), "tcp", "10.99.0.2:80")
	if err != nil {
		k.t.Fatal(err)
	}
	return conn
}

// A device mode that forbids the scheduler refuses new entries; those that are there become inactive, say so, do not
// run, and can be removed.
func TestDeviceMode_StopsTheSchedulerAndKeepsItsEntries(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		k := newKit(t, version)
		entry := router.Item{"name": "e", "interval": "1m", "on-event": `/ip pool add name=ran ranges=10.0.0.1`}
		k.do("system/scheduler", "add", entry)
		k.SetDeviceMode("system/scheduler")
		k.refused("system/scheduler", "add", router.Item{"name": "f"}, "not allowed by device-mode")
		row := k.only("system/scheduler", "name", "e")
		if row["inactive"] != "true" || !strings.Contains(row[".about"], "device-mode") || row["next-run"] != "" {
			t.Errorf("%s: %v", version, row)
		}
		k.clock.Advance(2 * time.Minute)
		for _, pool := range k.Snapshot(false)["ip/pool"] {
			if pool["name"] == "ran" {
				t.Errorf("%s: the entry ran", version)
			}
		}
		k.do("system/scheduler", "remove", router.Item{".id": row[".id"]})
		k.SetDeviceMode()
		k.do("system/scheduler", "add", entry)
		if row := k.only("system/scheduler", "name", "e"); row["inactive"] != "" || row["next-run"] == "" {
			t.Errorf("%s, allowed again: %v", version, row)
		}
	}
}

package router_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	routeros "github.com/go-routeros/routeros/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// anyCertificate accepts the simulator's self-signed certificate.
var anyCertificate = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the simulator's own

// login connects with the client library that the gateway uses.
func (k *kit) login(service, user, password string) (*routeros.Client, error) {
	var c *routeros.Client
	var err error
	if service == "api-ssl" {
		c, err = routeros.DialTLSTimeout(k.Addr(service), user, password, anyCertificate, 5*time.Second)
	} else {
		c, err = routeros.DialTimeout(k.Addr(service), user, password, 5*time.Second)
	}
	if err == nil {
		c.SetLogHandler(slog.DiscardHandler)
		k.t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

// rest makes one HTTP exchange as the full user; body is JSON or empty.
func (k *kit) rest(service, method, path, body string) (int, string) {
	k.t.Helper()
	return k.exchange(service, "admin", method, path, body)
}

// as makes one HTTP exchange on www as another user.
func (k *kit) as(user, method, path, body string) (int, string) {
	k.t.Helper()
	return k.exchange("www", user, method, path, body)
}

// exchange makes one HTTP exchange; status 0 comes with the error.
func (k *kit) exchange(service, user, method, path, body string) (int, string) {
	k.t.Helper()
	client := &http.Client{
		Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: anyCertificate, DisableKeepAlives: true},
	}
	scheme := "http"
	if service == "www-ssl" {
		scheme = "https"
	}
	req, err := http.NewRequestWithContext(context.Background(), method, scheme+"://"+k.Addr(service)+path,
		strings.NewReader(body))
	if err != nil {
		k.t.Fatal(err)
	}
	req.SetBasicAuth(user, "secret")
	w, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer w.Body.Close()
	text, _ := io.ReadAll(w.Body)
	return w.StatusCode, strings.TrimSpace(string(text))
}

func TestAPI_TheRealClientWorks(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		for _, service := range []string{"api", "api-ssl"} {
			k := newKit(t, version).certified()
			c, err := k.login(service, "admin", "secret")
			if err != nil {
				t.Fatal(err)
			}
			added, err := c.Run("/ip/pool/add", "=name=p", "=ranges=10.50.0.2-10.50.0.9")
			if err != nil || added.Done.Map["ret"] != "*2" {
				t.Fatalf("add: %v, %v", added, err)
			}
			found, err := c.Run("/ip/pool/print", "?name=p", "?name=default-dhcp", "?#|", "=.proplist=.id,name")
			if err != nil || len(found.Re) != 2 || found.Re[1].Map["name"] != "p" || len(found.Re[1].Map) != 2 {
				t.Errorf("print: %v, %v", found, err)
			}
			if none, err := c.Run("/ip/pool/print", "?name=x"); err != nil || len(none.Re) != 0 {
				t.Errorf("empty print: %v, %v", none, err)
			}
			var trap *routeros.DeviceError
			if _, err := c.Run("/ip/pool/remove",
				"=.id=*77"); !errors.As(err, &trap) || trap.Sentence.Map["message"] != "no such item" ||
				trap.Sentence.Map["category"] != "0" {
				t.Errorf("remove: %v", err)
			}
			if _, err := c.Run("/ip/nowhere/print"); !errors.As(err, &trap) ||
				trap.Sentence.Map["message"] != "no such command prefix" {
				t.Errorf("nowhere: %v", err)
			}
			if _, err := c.Run("/ip/pool/set", "=.id=p", "=ranges=10.50.0.1"); err != nil {
				t.Errorf("set by name: %v", err)
			}
			if _, err := k.login(service, "admin", "wrong"); !errors.As(err, &trap) ||
				trap.Sentence.Map["message"] != "invalid user name or password (6)" {
				t.Errorf("login: %v", err)
			}
		}
	}
}

func TestAPI_RawSentences(t *testing.T) {
	t.Parallel()
	for version, empty := range map[string]bool{"7.16": false, "7.23.7": true} {
		k := newKit(t, version)
		conn, err := net.Dial("tcp", k.Addr("api"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(waittest.Limit))
		in := bufio.NewReader(conn)
		send := func(words ...string) []string {
			var out []byte
			for _, w := range words {
				out = append(append(out, byte(len(w))), w...)
			}
			if _, err := conn.Write(append(out, 0)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for {
				n, err := in.ReadByte()
				if err != nil {
					return append(got, err.Error())
				}
				word := make([]byte, n)
				if _, err := io.ReadFull(in, word); err != nil {
					t.Fatal(err)
				}
				if n == 0 && (strings.Contains(strings.Join(got, " "), "!done") ||
					strings.Contains(strings.Join(got, " "), "!fatal")) {
					return got
				}
				got = append(got, string(word))
			}
		}
		if diff := cmp.Diff([]string{"!done"}, send("/login", "=name=admin", "=password=secret")); diff != "" {
			t.Error(diff)
		}
		want := []string{"!done", ".tag=7"}
		if empty {
			want = []string{"!empty", ".tag=7", "", "!done", ".tag=7"}
		}
		if diff := cmp.Diff(want, send("/ppp/active/print", ".tag=7")); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"!trap", "=message=unknown parameter x", "", "!done"},
			send("/ip/pool/add", "=x=1")); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"!fatal", "session terminated on request"}, send("/quit")); diff != "" {
			t.Error(diff)
		}
	}
}

func TestREST_IsThereByRelease(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, service string
		json             bool
		status           int
	}{
		{"6.49.10", "www", false, 404}, {"6.49.10", "www-ssl", false, 404}, {"7.6", "www", false, 200},
		{"7.6", "www-ssl", true, 200}, {"7.16", "www", true, 200}, {"7.23.7", "www", true, 200},
	} {
		k := newKit(t, c.version).certified()
		status, body := k.rest(c.service, "GET", "/rest/system/resource", "")
		var object map[string]string
		if isJSON := json.Unmarshal([]byte(body), &object) == nil; status != c.status || isJSON != c.json ||
			isJSON && !strings.HasPrefix(object["version"], c.version) {
			t.Errorf("%s %s: %d %s", c.version, c.service, status, body)
		}
	}
}

// exchange is a request and the expected answer.
type exchange struct {
	method, path, body string
	status             int
	want               string
}

// restExchanges are calls of REST in this order; a want that begins with a quote is a part of the answer.
var restExchanges = []exchange{
	{
		"PUT", "/rest/ip/pool", `{"name":"p","ranges":"10.0.0.1"}`, 201,
		`{".id":"*2","dynamic":"false","name":"p","ranges":"10.0.0.1"}`,
	},
	{
		"PUT", "/rest/ip/pool", `{"name":"p","ranges":"10.0.0.1"}`, 400,
		`{"detail":"failure: pool with such name exists","error":400,"message":"Bad Request"}`,
	},
	{"GET", "/rest/ip/pool/*2", "", 200, `{".id":"*2","dynamic":"false","name":"p","ranges":"10.0.0.1"}`},
	{"GET", "/rest/ip/pool/p?.proplist=name", "", 200, `{"name":"p"}`},
	{"GET", "/rest/ip/pool?name=p&.proplist=.id", "", 200, `[{".id":"*2"}]`},
	{"GET", "/rest/ip/pool?name=x", "", 200, `[]`},
	{
		"GET", "/rest/ip/pool/%2A2", "", 400,
		`{"detail":"missing or invalid resource identifier","error":400,"message":"Bad Request"}`,
	},
	{
		"GET", "/rest/ip/address/x", "", 400,
		`{"detail":"no such command prefix","error":400,"message":"Bad Request"}`,
	},
	{
		"GET", "/rest/ip/nowhere", "", 400,
		`{"detail":"no such command or directory (nowhere)","error":400,"message":"Bad Request"}`,
	},
	{
		"PATCH", "/rest/ppp/aaa", `{"use-radius":"yes"}`, 400,
		`{"detail":"missing or invalid resource identifier","error":400,"message":"Bad Request"}`,
	},
	{"POST", "/rest/ppp/aaa/set", `{"use-radius":true}`, 200, `[]`},
	{
		"PATCH", "/rest/ip/pool/*2", `{"ranges":"10.0.0.2"}`, 200,
		`{".id":"*2","dynamic":"false","name":"p","ranges":"10.0.0.2"}`,
	},
	{
		"POST", "/rest/ip/pool/print", `{".query":["name=p","name=default-dhcp","#|"],".proplist":["name"]}`, 200,
		`[{"name":"default-dhcp"},{"name":"p"}]`,
	},
	{"POST", "/rest/ip/pool/print", `{"count-only":""}`, 200, `{"ret":"2"}`},
	{"DELETE", "/rest/ip/pool/*2", "", 204, ""},
	{"DELETE", "/rest/ip/pool/*2", "", 404, `{"error":404,"message":"Not Found"}`},
	{"POST", "/rest/ip/pool/fly", "{}", 400, `{"detail":"no such command","error":400,"message":"Bad Request"}`},
	{
		"POST", "/rest/interface/monitor-traffic", `{"interface":"ether1"}`, 400,
		`{"detail":"Session closed","error":400,"message":"Bad Request"}`,
	},
	{"POST", "/rest/execute", `{"script":":put [:len {1;2}]","as-string":""}`, 200, `{"ret":"2\n"}`},
	{"HEAD", "/rest/ip/pool", "", 501, ""},
	{
		"PUT", "/rest/interface/pppoe-server/server", `{"service-name":"s","interface":"ether5"}`, 201,
		`"disabled":"true"`,
	},
}

func TestREST_AnswersAsTheFactSheetSays(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	for _, c := range restExchanges {
		status, body := k.rest("www", c.method, c.path, c.body)
		if status != c.status || body != c.want && !(strings.HasPrefix(c.want, `"`) && strings.Contains(body, c.want)) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, status, body)
		}
	}
}

func TestService_AddressesAndTheSwitchCount(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.23.7").certified()
	k.do("ip/service", "set", router.Item{"numbers": "www", "address": "10.99.0.0/16"})
	if status, body := k.rest("www", "GET", "/rest/system/identity", ""); status != 200 {
		t.Errorf("from the tunnel: %d %s", status, body)
	}
	k.do("ip/service", "set", router.Item{"numbers": "www", "address": "192.168.88.0/24"})
	if status, body := k.rest("www", "GET", "/rest/system/identity", ""); status != 0 ||
		strings.Contains(body, "reset") { // accepted and closed, which reads like EOF
		t.Errorf("from elsewhere: %d %s", status, body)
	}
	k.do("ip/service", "set", router.Item{"numbers": "api", "disabled": "yes"})
	if _, err := k.login("api", "admin", "secret"); err == nil {
		t.Error("a service that is off took a login")
	}
	if _, err := k.login("api-ssl", "admin", "secret"); err != nil {
		t.Error(err)
	}
	if rows := k.do("ip/service", "print", nil); len(rows) != 9 || rows[8]["dynamic"] != "true" ||
		rows[8]["name"] != "api-ssl" {
		t.Errorf("%d rows", len(rows))
	}
}

// controlExchanges are calls of the control paths in this order; want is a part of the answer.
var controlExchanges = []exchange{
	{"GET", "/sim/routers", "", 200, `"name":"r2"`},
	{"GET", "/sim/routers/nobody/log", "", 404, ""},
	{
		"POST", "/sim/routers/r1/edit",
		`{"menu":"interface/pppoe-server/server","command":"add",` +
			`"args":{"service-name":"s","interface":"ether5","disabled":"no"}}`,
		200, `"*1"`,
	},
	{
		"POST", "/sim/routers/r1/edit", `{"menu":"ip/pool","command":"add","args":{"colour":"red"}}`, 400,
		"unknown parameter colour",
	},
	{
		"PUT", "/sim/routers/r1/sessions/jane",
		`{"kind":"pppoe","server":"s","address":"10.50.0.7","rate":"5M/10M","list":"customers"}`, 200,
		`"*80000001"`,
	},
	{
		"PUT", "/sim/routers/r1/sessions/joe", `{"kind":"pppoe","server":"none","address":"10.50.0.8"}`, 400,
		"no enabled server",
	},
	{"POST", "/sim/routers/r1/edit", `{"menu":"interface/pppoe-server","command":"print"}`, 200, `"user":"jane"`},
	{"PUT", "/sim/routers/r1/leases/192.168.88.50", `{"server":"defconf","host":"laptop"}`, 200, ""},
	{"POST", "/sim/routers/r1/edit", `{"menu":"ip/dhcp-server/lease","command":"print"}`, 200, `"status":"bound"`},
	{"GET", "/sim/routers/r1/config?dynamic=true", "", 200, "pppoe-jane"},
	{"PUT", "/sim/routers/r1/faults", `{"latencyMs":1}`, 200, ""},
	{"PUT", "/sim/routers/r1/faults", `{"latencySeconds":1}`, 400, "unknown field"},
	{"DELETE", "/sim/routers/r1/sessions/jane", "", 200, `{"ended":1}`},
	{"PUT", "/sim/routers/r1/links/ether5", `{"up":false}`, 200, ""},
	{"PUT", "/sim/routers/r1/traffic/ether1", `{"rxBytes":5}`, 200, ""},
	{"PUT", "/sim/routers/r1/seen-from", `{"address":"192.168.88.9"}`, 200, ""},
	{"PUT", "/sim/routers/r1/power", `{"on":false}`, 200, `"on":false`},
	{"POST", "/sim/routers/r1/script", `{"text":":put a"}`, 200, `{"output":"a\n"}`},
	{"POST", "/sim/routers/r1/script", `{"text":":put a\n:nope","paste":true}`, 200, "bad command name nope"},
	{"POST", "/sim/routers/r1/reboot", "", 200, ""},
}

func TestControl_DrivesEverything(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16").withRADIUS()
	ask := func(method, path, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, k.sim.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		w, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		text, _ := io.ReadAll(w.Body)
		return w.StatusCode, string(text)
	}
	for _, c := range controlExchanges {
		if status, body := ask(c.method, c.path, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, status, body)
		}
	}
}

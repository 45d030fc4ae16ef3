package webhooks_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/lastmile-isp/lastmile/gateways/webhooks"
	"github.com/lastmile-isp/lastmile/internal/egress"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Secrets of the tests.
const (
	present = secrets.Text("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")
	former  = secrets.Text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
)

// body is the message of the tests.
const body = `{"type":"invoice.created"}`

// client makes a client of development, which stops with the test.
func client(t *testing.T, cfg webhooks.Config) *webhooks.Client {
	t.Helper()
	c := webhooks.New(cfg)
	t.Cleanup(c.Close)
	return c
}

// server starts a receiver that stops with the test.
func server(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s
}

// call is an attempt at an address.
func call(url string) webhooks.Call {
	return webhooks.Call{URL: url, ID: "msg-1", Body: []byte(body), Secrets: []secrets.Text{present, former}}
}

// Receivers verify with a library of Standard Webhooks: with either secret while two sign, and with no other one.
func TestSend_TheSignatureVerifiesWithTheStandardsLibrary(t *testing.T) {
	t.Parallel()
	var header http.Header
	var got []byte
	s := server(t, func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		got, _ = io.ReadAll(r.Body)
	})
	out := client(t, webhooks.Config{Addresses: egress.Guard{Development: true}}).Send(t.Context(), call(s.URL))
	if out.Code != "" || out.Status != 200 || string(got) != body {
		t.Fatalf("%+v, body %s", out, got)
	}
	for secret, ok := range map[secrets.Text]bool{
		present: true, former: true, "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": false,
	} {
		verifier, err := standardwebhooks.NewWebhook(secret.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(got, header); (err == nil) != ok {
			t.Errorf("verified %t: %v", !ok, err)
		}
		if err := verifier.Verify(append(got, ' '), header); err == nil {
			t.Error("a changed body is verified")
		}
	}
	if header.Get("Webhook-Id") != "msg-1" || len(strings.Fields(header.Get("Webhook-Signature"))) != 2 ||
		header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", header)
	}
}

// Every answer but 2xx is a failure with a code; redirects are not followed.
func TestSend_WhatIsNoSuccessHasACode(t *testing.T) {
	t.Parallel()
	followed := atomic.Bool{}
	inside := server(t, func(http.ResponseWriter, *http.Request) { followed.Store(true) })
	for status, code := range map[int]string{
		200: "", 204: "", 299: "", 301: "redirected", 302: "redirected", 307: "redirected", 308: "redirected",
		400: "not_accepted", 404: "not_accepted", 410: "not_accepted", 429: "not_accepted", 500: "not_accepted",
		503: "not_accepted",
	} {
		s := server(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", inside.URL)
			w.WriteHeader(status)
		})
		out := client(t, webhooks.Config{Addresses: egress.Guard{Development: true}}).Send(t.Context(), call(s.URL))
		if out.Code != code || out.Status != status {
			t.Errorf("%d: %+v", status, out)
		}
	}
	if followed.Load() {
		t.Error("a redirect was followed")
	}
}

// raw starts a receiver that speaks as it likes.
func raw(t *testing.T, speak func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wait.Go(func() {
				defer func() { _ = conn.Close() }()
				speak(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wait.Wait()
	})
	return "http://" + l.Addr().String()
}

// request reads a request up to its body.
func request(conn net.Conn) {
	buf := make([]byte, 4096)
	for text := ""; !strings.Contains(text, body); {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		text += string(buf[:n])
	}
}

// A hostile receiver costs ten seconds and a few kilobytes at most.
func TestSend_AHostileAnswerIsBounded(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	for name, c := range map[string]struct {
		speak func(net.Conn)
		code  string
	}{
		"hangs": {func(conn net.Conn) {
			request(conn)
			_, _ = io.Copy(io.Discard, conn)
		}, "timeout"},
		"closes": {request, "connection_failed"},
		"is no http": {func(conn net.Conn) {
			request(conn)
			_, _ = io.WriteString(conn, "220 smtp\r\n\r\n")
		}, "bad_answer"},
		"endless header": {endless("HTTP/1.1 200 OK\r\n", "X-A: "+strings.Repeat("a", 1000)+"\r\n"), "bad_answer"},
		"gigabytes": {
			endless("HTTP/1.1 200 OK\r\nContent-Length: 8000000000\r\n\r\n", strings.Repeat("a", 1<<16)), "",
		},
		"endless chunks": {
			endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"), "",
		},
		"trickles": {func(conn net.Conn) {
			request(conn)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\na")
			_, _ = io.Copy(io.Discard, conn)
		}, ""},
	} {
		url := raw(t, c.speak)
		dev := egress.Guard{Development: true}
		out := client(t, webhooks.Config{Addresses: dev, Timeout: 3 * time.Second}).Send(t.Context(), call(url))
		if out.Code != c.code || out.Took > 10*time.Second {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

// endless answers with a beginning and then the same again and again.
func endless(begin, again string) func(net.Conn) {
	return func(conn net.Conn) {
		request(conn)
		_, err := io.WriteString(conn, begin)
		for err == nil {
			_, err = io.WriteString(conn, again)
		}
	}
}

func TestSend_NobodyAnswersOrTheCertificateIsWrong(t *testing.T) {
	t.Parallel()
	closed := server(t, nil)
	closed.Close()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(untrusted.Close)
	plain := server(t, nil)
	dev := client(t, webhooks.Config{Addresses: egress.Guard{Development: true}})
	for url, code := range map[string]string{
		closed.URL: "connection_failed", untrusted.URL: "tls_failed",
		strings.Replace(plain.URL, "http:", "https:", 1): "tls_failed",
	} {
		if out := dev.Send(t.Context(), call(url)); out.Code != code || out.Status != 0 {
			t.Errorf("%s: %+v", url, out)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out := dev.Send(ctx, call(plain.URL)); out.Code != "interrupted" {
		t.Errorf("after a stop: %+v", out)
	}
}

// production makes a client of production, whose resolver and network are the test's. It trusts the server.
func production(
	t *testing.T, s *httptest.Server, resolve func(host string) []netip.Addr, dialled func(netip.AddrPort),
) *webhooks.Client {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return client(t, webhooks.Config{
		Roots: roots, Addresses: egress.Guard{
			Domain: "lastmile.test", Own: func() []netip.Addr { return []netip.Addr{addr("41.90.1.1")} },
			Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
				if list := resolve(host); list != nil {
					return list, nil
				}
				return nil, errors.New("no such host")
			},
			Connect: func(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
				dialled(at)
				return (&net.Dialer{}).DialContext(ctx, "tcp", s.Listener.Addr().String())
			},
		}})
}

// addr reads an address.
func addr(text string) netip.Addr { return netip.MustParseAddr(text) }

// What an organization learns about an address that is refused is one text, whatever is there, and a name that does not
// exist gives the same.
func TestSend_InProductionNoAddressInsideIsDialled(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	for _, inside := range []string{
		"127.0.0.1", "127.9.9.9", "10.0.0.7", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
		"0.1.2.3", "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.0.8", "198.18.0.1", "192.0.2.1", "198.51.100.1",
		"203.0.113.1", "192.88.99.1", "10.99.0.1", "10.50.1.1", "10.20.1.1", "41.90.1.1",
		"::1", "::", "fe80::1", "fc00::1", "fd00::1", "ff02::1", "fec0::1", "::ffff:127.0.0.1", "::ffff:10.0.0.7",
		"::ffff:169.254.169.254", "::7f00:1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1",
		"2001:db8::1", "100::1", "::ffff:41.90.1.1",
	} {
		c := production(t, s, func(string) []netip.Addr { return []netip.Addr{addr(inside)} },
			func(at netip.AddrPort) { t.Errorf("%s was dialled", at) })
		host := inside
		if addr(inside).Is6() {
			host = "[" + inside + "]"
		}
		at := "https://" + host
		for _, url := range []string{"https://hooks.example.com", at + "/x", at + ":8443"} {
			if out := c.Send(t.Context(), call(url)); out != (webhooks.Outcome{Code: "address_refused"}) {
				t.Errorf("%s, %s: %+v", inside, url, out)
			}
		}
	}
	c := production(t, s, func(string) []netip.Addr { return nil },
		func(at netip.AddrPort) { t.Errorf("%s was dialled", at) })
	for _, url := range []string{
		"https://nowhere.example.com", "https://localhost", "https://x.localhost.", "https://acme.lastmile.test",
		"https://LASTMILE.test", "https://127.1", "https://2130706433", "https://0x7f000001",
		"http://hooks.example.com", "https://user:word@hooks.example.com", "://", "ftp://x",
	} {
		if out := c.Send(t.Context(), call(url)); out != (webhooks.Outcome{Code: "address_refused"}) {
			t.Errorf("%s: %+v", url, out)
		}
	}
}

// A name is asked for once in each call, and only the answer that was checked is dialled: one that changes its answer
// in between wins nothing, and of a mixed answer the part inside is left out.
func TestSend_AChangedAnswerOfTheResolverIsNotDialled(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
	}))
	t.Cleanup(s.Close)
	var asked, dialled int
	answers := [][]netip.Addr{
		{addr("93.184.216.34")}, {addr("127.0.0.1")}, {addr("10.0.0.7"), addr("93.184.216.34")},
		{addr("::ffff:10.0.0.7")},
	}
	c := production(t, s, func(string) []netip.Addr {
		asked++
		return answers[asked-1]
	}, func(at netip.AddrPort) {
		dialled++
		if at.Addr() != addr("93.184.216.34") {
			t.Errorf("%s was dialled", at)
		}
	})
	for i, code := range []string{"", "address_refused", "", "address_refused"} {
		if out := c.Send(t.Context(), call("https://example.com/hook")); out.Code != code {
			t.Errorf("call %d: %+v", i, out)
		}
	}
	if asked != 4 || dialled != 2 {
		t.Errorf("asked %d times, dialled %d times", asked, dialled)
	}
}

func TestCheck_AnEndpointIsPublicWithTLS(t *testing.T) {
	t.Parallel()
	strict := client(t, webhooks.Config{Addresses: egress.Guard{Domain: "lastmile.test"}})
	dev := client(t, webhooks.Config{Addresses: egress.Guard{Development: true, Domain: "lastmile.test"}})
	for url, ok := range map[string][2]bool{ // production, development
		"https://hooks.example.com/a?b=c": {true, true},
		"https://hooks.example.com:8443":  {true, true},
		"https://196.201.214.200":         {true, true},
		"http://hooks.example.com":        {false, true},
		"http://127.0.0.1:9000":           {false, true},
		"http://localhost:9000":           {false, true},
		"https://10.0.0.7":                {false, true},
		"https://acme.lastmile.test":      {false, true},
		"https://lastmile.test.":          {false, true},
		"https://127.1":                   {false, false},
		"https://169.254.169.254":         {false, false},
		"https://[fe80::1%25eth0]":        {false, false},
		"https://224.0.0.1":               {false, false},
		"https://0.0.0.0":                 {false, false},
		"https://hooks.example.com:0":     {false, false},
		"https://hooks.example.com:99999": {false, false},
		"https://u:p@hooks.example.com":   {false, false},
		"https://hooks.example.com/#part": {false, false},
		"ftp://hooks.example.com":         {false, false},
		"hooks.example.com":               {false, false},
		"javascript:alert(1)":             {false, false},
		"":                                {false, false},
	} {
		for i, c := range []*webhooks.Client{strict, dev} {
			if err := c.Check(url); (err == nil) != ok[i] {
				t.Errorf("%s, development %t: %v", url, i == 1, err)
			}
		}
	}
}

// The proxy of the environment is not for addresses that customers choose. It is no parallel test, because the
// environment is everybody's.
func TestSend_NoProxyOfTheEnvironment(t *testing.T) {
	asked := atomic.Bool{}
	proxy := server(t, func(http.ResponseWriter, *http.Request) { asked.Store(true) })
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	dial := func(_ context.Context, at netip.AddrPort) (net.Conn, error) {
		return nil, fmt.Errorf("dial %s: %w", at, io.EOF)
	}
	c := client(t, webhooks.Config{Addresses: egress.Guard{Development: true, Connect: dial}})
	if out := c.Send(t.Context(), call("http://93.184.216.34/")); out.Code != "connection_failed" || asked.Load() {
		t.Errorf("%+v, asked the proxy %t", out, asked.Load())
	}
}
